// Options that hold without being said: /etc/nfsrdma.conf, in the form of nfsmount.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::fuse {

inline constexpr const char* kConfigFile = "/etc/nfsrdma.conf";

/// The parts of the mount by which sections are chosen.
struct ConfigTarget {
  std::string_view server;  ///< as in the source
  std::string mount_point;  ///< absolute
};

/// Items as of -o lists, those of sections that hold for all mounts first, then the server's, then
/// the mount point's. A section is
///
///     [ NFSMount_Global_Options ]
///     [ Server "server" ]
///     [ MountPoint "/mnt" ]
///
/// and a line in it `option`, `option=value`, or `option=True|False`, where False puts "no" before
/// the name. Comments begin with # or ;. The error's detail names the line.
Result<std::vector<std::string>> parse_config(std::string_view text, const ConfigTarget& target);

/// The same of a file; nothing when it is kConfigFile and does not exist.
Result<std::vector<std::string>> read_config(const std::string& path, const ConfigTarget& target);

}  // namespace nfsrdma::fuse
