# Writes the packages' changelog, compressed, to NFSRDMA_CHANGELOG: for version NFSRDMA_NUMBER of NFSRDMA_SOURCE.
include("${NFSRDMA_SOURCE}/cmake/PackageVersion.cmake")
nfsrdma_package_version("${NFSRDMA_SOURCE}" "${NFSRDMA_NUMBER}" version date)
string(REGEX REPLACE "[.]gz$" "" text "${NFSRDMA_CHANGELOG}")
configure_file("${NFSRDMA_SOURCE}/cmake/packages/changelog.in" "${text}" @ONLY)
execute_process(COMMAND "${NFSRDMA_GZIP}" -9nc "${text}" OUTPUT_FILE "${NFSRDMA_CHANGELOG}" COMMAND_ERROR_IS_FATAL ANY)
