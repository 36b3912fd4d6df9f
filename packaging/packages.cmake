# Packages by CPack: gedit-tf_VERSION_ARCH.deb and a tarball. scripts/release builds what they hold.
set(CPACK_PACKAGE_NAME gedit-tf)
set(CPACK_PACKAGE_VENDOR "The gedit authors")
# Who builds a package is its maintainer, as Debian's tools have it.
set(GEDIT_MAINTAINER "gedit-tf maintainers <nobody@localhost>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(GEDIT_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_CONTACT ${GEDIT_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "editor for serialized TensorFlow graphs")
set(CPACK_PACKAGE_DESCRIPTION
    "gedit-tf edits GraphDef, MetaGraphDef and SavedModel files and checkpoints
without TensorFlow: it copies networks with variables of their own, joins and
cuts graphs, freezes variables, renames scopes wherever they are named, shows
what is in a file and draws it. What an edit does not touch comes out byte for
byte as it was.")
set(CPACK_COMPONENTS_ALL program)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_NAME gedit-tf)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gedit-tf)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "graphviz")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "graphviz")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)

if(GEDIT_PROGRAM_NAME STREQUAL "gedit-tf" AND NOT SKBUILD)  # as Debian's policy has it
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/gedit-tf)
  set(epoch $ENV{SOURCE_DATE_EPOCH})
  if(NOT epoch)
    execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE epoch
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT epoch)
    string(TIMESTAMP epoch "%s" UTC)
  endif()
  execute_process(COMMAND date -u -R -d @${epoch} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  configure_file(packaging/changelog.in changelog @ONLY)
  execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_BINARY_DIR}/changelog
                  OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz)
  execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md
                  OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/NEWS.gz)
  file(GLOB pages ${renamed}/*.1)
  foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9n ${page})
  endforeach()
  install(DIRECTORY ${renamed}/ DESTINATION ${man}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz ${CMAKE_CURRENT_BINARY_DIR}/NEWS.gz packaging/copyright DESTINATION ${doc} COMPONENT program)
  install(FILES packaging/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME gedit-tf
          COMPONENT program)
endif()
include(CPack)
