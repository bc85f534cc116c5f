# The language, warnings and sanitizers every target is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Sanitizer builds: optimised just enough to run the mount tests in reasonable time.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")

# Unity builds (most presets; three times as fast to build) join small files. Coroutine frames then
# hold types of anonymous namespaces "of an included file", which is harmless here.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# g++ 12 takes std::string concatenation for an overlapping copy (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

add_library(nfsrdma_compile INTERFACE)
target_include_directories(nfsrdma_compile INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(nfsrdma_compile INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  -fno-strict-aliasing)
target_compile_definitions(nfsrdma_compile INTERFACE _FILE_OFFSET_BITS=64 FUSE_USE_VERSION=314)

set(NFSRDMA_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
if(NFSRDMA_SANITIZE)
  add_compile_options(-fsanitize=${NFSRDMA_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NFSRDMA_SANITIZE})
endif()

# Paths relative to the source: another clone of it, as continuous integration makes one, finds what
# an earlier one has compiled.
find_program(NFSRDMA_CCACHE ccache)
if(NFSRDMA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1 ${NFSRDMA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
# Unity files include by absolute paths: without this line __FILE__, which each check of GoogleTest has in it, differs
# between clones, and only files without a check are found.
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)

# What distributions build with: overflows of the stack and of buffers whose size the compiler knows end
# the program, all symbols are bound at the start, and the table of them is read-only then.
target_compile_options(nfsrdma_compile INTERFACE
  $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-fcf-protection>)
target_compile_definitions(nfsrdma_compile INTERFACE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
add_link_options(-Wl,-z,relro,-z,now)
