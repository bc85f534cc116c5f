// A program's own mount, told from whatever else lies on its mount point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuse/channel/mount_table.h"

namespace nfsrdma::fuse {

/// The device number is the mount's alone, in every mount namespace, as long as the kernel keeps
/// the connection; after that another mount may get it, and the mount id too.
struct OwnMount {
  std::string path;      ///< where it was mounted
  std::string device;    ///< "0:53"; empty: it cannot be told from others
  std::uint64_t id = 0;  ///< tells it from a bind mount of itself; 0: not known

  bool known() const { return !device.empty(); }
};

/// The mount that lies on `path` just after mounting. No request of the mounted file system is
/// made. Not known() when another mount lies there already.
OwnMount identify_mount(const std::string& path);

/// Whether an access to `path` meets `mount`. Makes no request of the mounted file system, but
/// looks up the path. Async-signal-safe.
bool lies_at(const OwnMount& mount, const char* path);

/// Where a mount is in this program's mount namespace.
struct MountPlace {
  enum class State {
    free,     ///< can be unmounted
    covered,  ///< another mount lies on top of it, and only that one could be unmounted
    used,     ///< others are mounted below it: taking it out of the tree takes them too
    gone,     ///< detached, or in other namespaces only
  };
  State state = State::gone;
  std::string path;    ///< as of now: directories above may have been renamed, the mount moved
  std::string others;  ///< mounts on top or below: "tmpfs on /mnt/sub"
};

/// Without a table (no /proc) it is believed to be where it was mounted.
MountPlace place_of(const OwnMount& mount, const std::vector<MountEntry>& table);

}  // namespace nfsrdma::fuse
