# The version of the packages. It grows from commit to commit: apt installs nothing of a package whose version it has.

# nfsrdma_package_version(SOURCE NUMBER VERSION DATE): sets the variables VERSION, NUMBER+gitTIME.COMMIT with the time (UTC)
# of the commit that SOURCE is at, and DATE, that time as Debian's changelogs have it. With changes that are not committed
# the time is now, and ".changed" follows. NUMBER alone where there is no git, as in a tarball.
function(nfsrdma_package_version source number version date)
  # The environment, for a caller of another owner than the sources, and because git takes names of days from it.
  set(git ${CMAKE_COMMAND} -E env TZ=UTC LC_ALL=C git -c "safe.directory=*" -C "${source}")
  set(stamp "%a, %d %b %Y %H:%M:%S +0000")
  execute_process(COMMAND ${git} log -1 "--date=format-local:%Y%m%d%H%M%S" --abbrev=12 --format=%cd.%h
    OUTPUT_VARIABLE commit RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${git} log -1 "--date=format-local:${stamp}" --format=%cd
    OUTPUT_VARIABLE committed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(status EQUAL 0 AND changes STREQUAL "")
    set(${version} "${number}+git${commit}" PARENT_SCOPE)
    set(${date} "${committed}" PARENT_SCOPE)
    return()
  endif()
  # One time for all that cpack makes in one run.
  if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    string(TIMESTAMP now "%s" UTC)
    set(ENV{SOURCE_DATE_EPOCH} "${now}")
  endif()
  string(TIMESTAMP time "%Y%m%d%H%M%S" UTC)
  string(TIMESTAMP today "${stamp}" UTC)
  set(${date} "${today}" PARENT_SCOPE)
  set(${version} "${number}" PARENT_SCOPE)
  if(status EQUAL 0)
    string(REGEX REPLACE "^[0-9]+" "" hash "${commit}")
    set(${version} "${number}+git${time}${hash}.changed" PARENT_SCOPE)
  endif()
endfunction()
