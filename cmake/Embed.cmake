# gedit_embed(TARGET SYMBOL FILE...): the files, one after the other and compressed, become bytes of the program,
# SYMBOL .. SYMBOL_end; embedded() of base/embedded.h reads them.
find_program(GEDIT_GZIP gzip REQUIRED)
set(gedit_embed_template ${CMAKE_CURRENT_LIST_DIR}/embed.S.in)

function(gedit_embed target symbol)
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.gz)
  add_custom_command(OUTPUT ${packed} COMMAND ${GEDIT_GZIP} -n9c ${ARGN} > ${packed} DEPENDS ${ARGN} VERBATIM)
  configure_file(${gedit_embed_template} ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.S @ONLY)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${symbol}.S PROPERTIES OBJECT_DEPENDS ${packed})
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.S)
endfunction()
