# Two helpers, so that a folder's CMakeLists.txt names only what is particular to it.

# nfsrdma_library(NAME SOURCES... [DEPENDS targets...]): a static library of one folder.
function(nfsrdma_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC nfsrdma_compile ${ARG_DEPENDS})
endfunction()

# nfsrdma_test(NAME SOURCES... [DEPENDS targets...] [TIMEOUT seconds]): a GoogleTest program that
# ctest runs as one test.
function(nfsrdma_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nfsrdma_compile ${ARG_DEPENDS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
