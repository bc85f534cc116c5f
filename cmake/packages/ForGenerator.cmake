# Read by cpack once for each kind of package, before it packs anything.
include("${CMAKE_CURRENT_LIST_DIR}/../PackageVersion.cmake")
nfsrdma_package_version("${CPACK_NFSRDMA_SOURCE}" "${CPACK_NFSRDMA_NUMBER}" CPACK_PACKAGE_VERSION date)

# needs(PROGRAM PACKAGE): remembers PACKAGE as missing if PROGRAM is.
set(missing "")
macro(needs program package)
  string(MAKE_C_IDENTIFIER "NFSRDMA_${program}" found)
  find_program(${found} ${program})
  if(NOT ${found})
    list(APPEND missing ${package})
  endif()
endmacro()

if(CPACK_GENERATOR STREQUAL "DEB")
  # Without them cpack makes packages that depend on no library, and calls that a success.
  needs(file file)
  needs(dpkg-shlibdeps dpkg-dev)
elseif(CPACK_GENERATOR STREQUAL "RPM")
  needs(rpmbuild rpm)
  # Debian's symbols go to packages of their own by stripping in another place.
  set(CPACK_STRIP_FILES ON)
endif()
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "packages to make packages are missing: apt-get install ${missing}")
endif()
