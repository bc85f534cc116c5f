// The mount points of this namespace, from /proc/self/mountinfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::fuse {

struct MountEntry {
  std::uint64_t id = 0;  ///< as in statx(2), STATX_MNT_ID; 0 for none
  std::uint64_t parent = 0;
  std::string device;  ///< "0:53", as in /sys/fs/fuse/connections
  std::string mount_point;
  std::string type;    ///< "fuse.nfsrdma"
  std::string source;  ///< "server:/export"
};

/// The whole table, as far as its lines make sense. Empty where there is no /proc.
std::vector<MountEntry> read_mount_table();
std::vector<MountEntry> parse_mount_table(std::string_view mountinfo);

/// The topmost mount on exactly this path, if it is a mount point. The path is compared as the
/// kernel spells it: absolute, without symbolic links.
std::optional<MountEntry> find_mount(std::string_view mount_point);

/// The same on a given table's text.
std::optional<MountEntry> find_mount_in(std::string_view mountinfo, std::string_view mount_point);

}  // namespace nfsrdma::fuse
