# Debian's package of leveldb has no CMake file (or one for the shared library only).
find_path(leveldb_INCLUDE_DIR leveldb/table.h)
find_library(leveldb_LIBRARY leveldb)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(leveldb REQUIRED_VARS leveldb_LIBRARY leveldb_INCLUDE_DIR)
if(leveldb_FOUND AND NOT TARGET leveldb::leveldb)
  add_library(leveldb::leveldb UNKNOWN IMPORTED)
  set_target_properties(leveldb::leveldb PROPERTIES IMPORTED_LOCATION ${leveldb_LIBRARY}
                                      INTERFACE_INCLUDE_DIRECTORIES ${leveldb_INCLUDE_DIR})
endif()
