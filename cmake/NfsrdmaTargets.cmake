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

include(GoogleTest)

# Most of what is compiled is tests: the optimiser's time is not worth it there. -Og compiles them in 0.6 of the time of -O1.
set(NFSRDMA_TEST_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-Og>)

# Seconds that a test may take before it counts as hung. Under a sanitizer all takes several times as long.
set(NFSRDMA_TEST_TIMEOUT 180)
if(NFSRDMA_SANITIZE)
  set(NFSRDMA_TEST_TIMEOUT 600)
endif()

# nfsrdma_test(NAME SOURCES... [NO_UNITY] [DEPENDS targets...] [TIMEOUT seconds] [LABELS labels...]): a
# GoogleTest program. Each of its cases is a test for ctest, NAME.Suite.Case, of TIMEOUT seconds at most.
# Under a sanitizer the program is one test, NAME: it takes longer to start than most cases do. Nothing where
# GoogleTest programs are not built.
function(nfsrdma_test name)
  if(NOT NFSRDMA_UNIT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "NO_UNITY" "TIMEOUT" "DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${NFSRDMA_TEST_TIMEOUT})
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nfsrdma_compile ${ARG_DEPENDS} GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${NFSRDMA_TEST_OPTIONS})
  if(ARG_NO_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(NFSRDMA_SANITIZE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  endif()
endfunction()
