# The program, its man pages and completions, under one name: where `gedit` is GNOME's editor, as in a package of a
# distribution, it is gedit-tf, and so are the pages and what the shells complete.
set(GEDIT_PROGRAM_NAME gedit CACHE STRING "What the installed program is called: gedit, or gedit-tf")
# Debian's zsh looks for what packages complete in zsh/vendor-completions, others where zsh itself is told to.
set(GEDIT_ZSH_FOLDER zsh/site-functions CACHE STRING "Where in share/ the completion for zsh is installed")
set(name ${GEDIT_PROGRAM_NAME})
set(data ${CMAKE_INSTALL_DATADIR})
set(man ${CMAKE_INSTALL_MANDIR})
set(bin ${CMAKE_INSTALL_BINDIR})
if(SKBUILD)  # a wheel: the program under both names
  set(data ${SKBUILD_DATA_DIR}/share)
  set(man ${data}/man)
  set(bin ${SKBUILD_SCRIPTS_DIR})
  set(name gedit-tf)
  install(PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/packaging/gedit DESTINATION ${bin} COMPONENT program)
endif()

set(renamed ${CMAKE_CURRENT_BINARY_DIR}/renamed)
file(REMOVE_RECURSE ${renamed})
file(MAKE_DIRECTORY ${renamed})
# Where a page shows a command, `gedit copy`, or names another page, `gedit-copy(1)`; in man's language a minus is `\-`.
file(STRINGS tools/commands.txt commands REGEX "^  [a-z]+$")
list(TRANSFORM commands STRIP)
list(JOIN commands "|" commands)
string(TOUPPER ${name} upper)
string(REPLACE "-" "\\\\-" minus ${name})
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/man/*.1)
foreach(page IN LISTS pages)
  cmake_path(GET page FILENAME file)
  string(REGEX REPLACE "^gedit" "${name}" file ${file})
  execute_process(COMMAND sed -E -e "s/^\\.TH \"GEDIT/.TH \"${upper}/" -e "s/\\bgedit\\\\-/${minus}\\\\-/g"
                          -e "s/\\bgedit( (${commands}|COMMAND|\\[|\\\\-\\\\-)|$)/${minus}\\1/g" -e "s/^gedit \\\\- /${minus} \\\\- /" ${page}
                  OUTPUT_FILE ${renamed}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(script gedit.bash _gedit gedit.fish)
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/completions/${script} text)
  foreach(before "#compdef " "compdef _gedit " "complete -F _gedit " "complete -c ")
    string(REPLACE "${before}gedit" "${before}${name}" text "${text}")
  endforeach()
  file(WRITE ${renamed}/${script} "${text}")
endforeach()

if(GEDIT_BINARY)  # cmake strips only what it has linked
  set(program ${CMAKE_CURRENT_BINARY_DIR}/stripped)
  execute_process(COMMAND ${CMAKE_STRIP} -o ${program} ${GEDIT_BINARY} COMMAND_ERROR_IS_FATAL ANY)
else()
  set(program $<TARGET_FILE:gedit>)
endif()
install(PROGRAMS ${program} DESTINATION ${bin} RENAME ${name} COMPONENT program)
install(DIRECTORY ${renamed}/ DESTINATION ${man}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
install(FILES ${renamed}/gedit.bash DESTINATION ${data}/bash-completion/completions RENAME ${name} COMPONENT program)
install(FILES ${renamed}/_gedit DESTINATION ${data}/${GEDIT_ZSH_FOLDER} RENAME _${name} COMPONENT program)
install(FILES ${renamed}/gedit.fish DESTINATION ${data}/fish/vendor_completions.d RENAME ${name}.fish COMPONENT program)
