# Writes the commit that SOURCE is at to the header HEADER, if that says another one. Empty where there
# is no git, as in a tarball.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
set(text "inline constexpr const char kCommit[] = \"${commit}\";\n")
set(present "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" present)
endif()
if(NOT text STREQUAL present)
  file(WRITE "${HEADER}" "${text}")
endif()
