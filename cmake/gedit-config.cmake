# find_package(gedit): the library as gedit::gedit, with what it links to.
include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
foreach(package protozero fmt nlohmann_json re2 leveldb Snappy ZLIB minizip Threads)
  find_dependency(${package})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/gedit-targets.cmake)
