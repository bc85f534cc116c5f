# Two helpers, so that a folder's CMakeLists.txt names only what is particular to it.
#
# NO_UNITY keeps a target's files apart in unity builds: for folders whose files use the same names in
# their anonymous namespaces (the option tables). Each file costs seconds for its headers then.

# nfsrdma_library(NAME SOURCES... [NO_UNITY] [DEPENDS targets...]): a static library of one folder.
function(nfsrdma_library name)
  cmake_parse_arguments(ARG "NO_UNITY" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC nfsrdma_compile ${ARG_DEPENDS})
  if(ARG_NO_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# nfsrdma_test(NAME SOURCES... [NO_UNITY] [DEPENDS targets...] [TIMEOUT seconds]): a GoogleTest
# program that ctest runs as one test.
function(nfsrdma_test name)
  cmake_parse_arguments(ARG "NO_UNITY" "TIMEOUT" "DEPENDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nfsrdma_compile ${ARG_DEPENDS} GTest::gtest_main)
  # Most of what is compiled is tests: the optimiser's time is not worth it there.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(ARG_NO_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
