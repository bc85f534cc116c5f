# Read by cpack once for each kind of package. Debian's symbols go to packages of their own by stripping
# in another place.
if(CPACK_GENERATOR STREQUAL "RPM")
  set(CPACK_STRIP_FILES ON)
endif()
