# What is installed, and where. Component `nfsrdma` is the program; `nfsrdma-lab` is the lab and its
# server, for tests and demonstrations. `cmake --install build/install --component nfsrdma` installs one of them,
# without --component both; `cmake --build build/install --target uninstall` removes what was installed.
include(GNUInstallDirs)
find_program(NFSRDMA_GZIP gzip REQUIRED)

# A symbolic link in the installed tree: NAME in FOLDER leads to TARGET, a relative path.
function(nfsrdma_install_link component folder name target)
  set(link "${CMAKE_BINARY_DIR}/links/${folder}/${name}")
  cmake_path(GET link PARENT_PATH parent)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${target}" "${link}" SYMBOLIC)
  install(FILES "${link}" DESTINATION "${folder}" COMPONENT ${component})
endfunction()

# All pages of man/.
add_custom_target(nfsrdma_pages)

# A page of man/, compressed as distributions want it, under its own name and each of the others.
function(nfsrdma_install_page component page)
  set(source "${CMAKE_SOURCE_DIR}/man/${page}")
  cmake_path(GET page EXTENSION LAST_ONLY section)
  string(REPLACE "." "${CMAKE_INSTALL_MANDIR}/man" folder "${section}")
  set(compressed "${CMAKE_BINARY_DIR}/man/${page}.gz")
  add_custom_command(OUTPUT "${compressed}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/man"
    COMMAND "${NFSRDMA_GZIP}" -9nc "${source}" > "${compressed}"
    DEPENDS "${source}" VERBATIM)
  string(MAKE_C_IDENTIFIER "man_${page}" target)
  add_custom_target(${target} ALL DEPENDS "${compressed}")
  add_dependencies(nfsrdma_pages ${target})
  install(FILES "${compressed}" DESTINATION "${folder}" COMPONENT ${component})
  foreach(name ${ARGN})
    nfsrdma_install_link(${component} "${folder}" "${name}${section}.gz" "${page}.gz")
  endforeach()
endfunction()

install(TARGETS nfsrdma nfsrdmactl DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT nfsrdma)
# mount(8) looks for its helpers in sbin only.
file(RELATIVE_PATH from_sbin "${CMAKE_INSTALL_FULL_SBINDIR}" "${CMAKE_INSTALL_FULL_BINDIR}/nfsrdma")
nfsrdma_install_link(nfsrdma "${CMAKE_INSTALL_SBINDIR}" mount.nfsrdma "${from_sbin}")
nfsrdma_install_link(nfsrdma "${CMAKE_INSTALL_SBINDIR}" mount.fuse.nfsrdma "${from_sbin}")
nfsrdma_install_page(nfsrdma nfsrdma.8 mount.nfsrdma mount.fuse.nfsrdma)
foreach(topic semantics messages from-nfs counters tracing security tuning containers)
  nfsrdma_install_page(nfsrdma nfsrdma-${topic}.7)
endforeach()
nfsrdma_install_page(nfsrdma nfsrdmactl.8)
install(FILES "${CMAKE_SOURCE_DIR}/fuse/options/nfsrdma.bash-completion"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME nfsrdma
  COMPONENT nfsrdma)
install(FILES "${CMAKE_SOURCE_DIR}/fuse/ctl/nfsrdmactl.bash-completion"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME nfsrdmactl
  COMPONENT nfsrdma)
# Templates for mounts of the system and of a user; systemd reads its units in lib, on every distribution.
install(FILES "${CMAKE_SOURCE_DIR}/fuse/daemon/units/system/nfsrdma@.service"
  DESTINATION "lib/systemd/system" COMPONENT nfsrdma)
install(FILES "${CMAKE_SOURCE_DIR}/fuse/daemon/units/user/nfsrdma@.service"
  DESTINATION "lib/systemd/user" COMPONENT nfsrdma)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/fuse/ctl/bpftrace" DESTINATION "${CMAKE_INSTALL_DATADIR}/nfsrdma"
  COMPONENT nfsrdma)
if(TARGET nfsrdma-exporter)
  install(TARGETS nfsrdma-exporter DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT nfsrdma)
  nfsrdma_install_page(nfsrdma nfsrdma-exporter.8)
  install(FILES "${CMAKE_SOURCE_DIR}/fuse/ctl/nfsrdma-exporter.service"
    DESTINATION "lib/systemd/system" COMPONENT nfsrdma)
  install(FILES "${CMAKE_SOURCE_DIR}/fuse/ctl/grafana-dashboard.json"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/nfsrdma" COMPONENT nfsrdma)
endif()
install(FILES "${CMAKE_SOURCE_DIR}/README.md" "${CMAKE_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT nfsrdma)

if(NFSRDMA_LAB)
  install(TARGETS nfsrdma-lab nfsrdma-responder DESTINATION "${CMAKE_INSTALL_BINDIR}"
    COMPONENT nfsrdma-lab)
  nfsrdma_install_page(nfsrdma-lab nfsrdma-lab.1)
  # Where Wireshark looks for it, when both have the same prefix.
  cmake_path(APPEND wireshark_plugins lib "${CMAKE_LIBRARY_ARCHITECTURE}" wireshark plugins)
  install(FILES "${CMAKE_SOURCE_DIR}/tests/lab/wireshark/rpcrdma2.lua"
    DESTINATION "${wireshark_plugins}" COMPONENT nfsrdma-lab)
  nfsrdma_install_page(nfsrdma-lab nfsrdma-responder.8)
endif()

# The licence goes where a package keeps it: Debian's name for it is `copyright`.
foreach(component nfsrdma nfsrdma-lab)
  install(FILES "${CMAKE_SOURCE_DIR}/cmake/packages/copyright"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${component}" COMPONENT ${component})
endforeach()

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFESTS=${CMAKE_BINARY_DIR} -P "${CMAKE_SOURCE_DIR}/cmake/Uninstall.cmake"
  VERBATIM)

include(NfsrdmaPackages)
