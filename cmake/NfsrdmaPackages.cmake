# Packages, made by cpack from the rules of NfsrdmaInstall.cmake: nfsrdma and nfsrdma-lab. Debian's by `cpack`, with
# the debugging symbols of each (-dbgsym); RPMs by `cpack -G RPM`, on the distribution they are for: what
# they depend on is found out from the programs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nfsrdma)
set(CPACK_PACKAGE_VENDOR nfsrdma)
# For its version.
set(CPACK_NFSRDMA_SOURCE "${CMAKE_SOURCE_DIR}")
set(CPACK_NFSRDMA_NUMBER "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "nfsrdma maintainers <maintainers@nfsrdma.invalid>")
# Who distributes the packages says where they are from: -DNFSRDMA_HOMEPAGE=URL.
set(NFSRDMA_HOMEPAGE "https://nfsrdma.invalid/" CACHE STRING "Homepage that the packages name")
set(CPACK_PACKAGE_HOMEPAGE_URL "${NFSRDMA_HOMEPAGE}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# 022 whatever the builder's umask is, or the package would change the modes of /usr.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL nfsrdma)
if(NFSRDMA_LAB)
  list(APPEND CPACK_COMPONENTS_ALL nfsrdma-lab)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_NFSRDMA_PACKAGE_NAME nfsrdma)
set(CPACK_DEBIAN_NFSRDMA_PACKAGE_SECTION net)
set(CPACK_DEBIAN_NFSRDMA_PACKAGE_DEPENDS fuse3)
set(CPACK_DEBIAN_NFSRDMA_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_COMPONENT_NFSRDMA_DESCRIPTION "mounts NFSv4.1 exports over RPC-over-RDMA without privileges
A FUSE file system that speaks NFSv4.1 over RPC-over-RDMA, or over TCP, from
userspace. It needs neither root nor an RDMA device: without one it carries
RDMA over one TCP connection (iWARP).")

set(CPACK_DEBIAN_NFSRDMA-LAB_PACKAGE_NAME nfsrdma-lab)
set(CPACK_DEBIAN_NFSRDMA-LAB_PACKAGE_SECTION net)
# nfsrdma-lab(1) reads captures with it.
set(CPACK_DEBIAN_NFSRDMA-LAB_PACKAGE_RECOMMENDS tshark)
set(CPACK_COMPONENT_NFSRDMA-LAB_DESCRIPTION "NFS/RDMA server for tests and demonstrations
nfsrdma-responder serves a directory over NFSv4.1 with RPC-over-RDMA versions
1 and 2 or TCP, and misbehaves on request: faults, delays, lost connections
and reboots, for those who look for problems of NFS over RDMA. nfsrdma-lab is
the other end: hand-made messages, probes and comparisons of servers.")

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT nfsrdma)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_NFSRDMA_PACKAGE_NAME nfsrdma)
set(CPACK_RPM_NFSRDMA_PACKAGE_REQUIRES fuse3)
set(CPACK_RPM_NFSRDMA_PACKAGE_SUMMARY "Mounts NFSv4.1 exports over RPC-over-RDMA without privileges")
set(CPACK_RPM_NFSRDMA-LAB_PACKAGE_NAME nfsrdma-lab)
set(CPACK_RPM_NFSRDMA-LAB_PACKAGE_SUMMARY "NFS/RDMA server for tests and demonstrations")
# They belong to packages that are always there.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/sbin /usr/lib/systemd /usr/lib/systemd/system
  /usr/lib/systemd/user /usr/share/bash-completion /usr/share/bash-completion/completions
  /usr/share/man /usr/share/man/man1 /usr/share/man/man7 /usr/share/man/man8 /usr/share/doc)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(libraries "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    "${libraries}" "${libraries}/wireshark" "${libraries}/wireshark/plugins")
endif()
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define packager ${CPACK_PACKAGE_CONTACT}")
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_SOURCE_DIR}/cmake/packages/ForGenerator.cmake")

# Debian wants a changelog of the package in each, compressed. Written when it is installed: its version is that of the
# sources then.
set(changelog "${CMAKE_BINARY_DIR}/packages-files/changelog.gz")
foreach(component ${CPACK_COMPONENTS_ALL})
  install(CODE "
    set(NFSRDMA_SOURCE \"${CMAKE_SOURCE_DIR}\")
    set(NFSRDMA_NUMBER \"${PROJECT_VERSION}\")
    set(NFSRDMA_GZIP \"${NFSRDMA_GZIP}\")
    set(NFSRDMA_CHANGELOG \"${changelog}\")
    include(\"${CMAKE_SOURCE_DIR}/cmake/packages/WriteChangelog.cmake\")" COMPONENT ${component})
  install(FILES "${changelog}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${component}"
    COMPONENT ${component})
endforeach()
include(CPack)
