// libnfsidmap, once for the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/names/name_service.h"

namespace nfsrdma::client::idmap_library {

/// Each call blocks until the system's databases have answered. The library is not thread-safe, so
/// each call waits for the one before. The first call reads the configuration.
struct Settings {
  std::string config_file;  ///< a file that is not there stands for an empty one
  std::string domain;       ///< empty: that of the file, or else the host's DNS domain
};

std::optional<std::uint32_t> number_of(const Settings& settings, OwnerKind kind,
                                       const std::string& name);
std::string name_of(const Settings& settings, OwnerKind kind, std::uint32_t number);

}  // namespace nfsrdma::client::idmap_library
