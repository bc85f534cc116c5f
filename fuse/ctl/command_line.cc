#include "fuse/ctl/command_line.h"

#include <fmt/format.h>

#include <cstdio>

#include "transport/base/line_text.h"

namespace nfsrdma::ctl {

std::string shown(const Mount& mount, std::string_view name) {
  return escape_line(mount.get(name));
}

std::string headline(const Mount& mount) {
  return fmt::format("{} on {}", shown(mount, "source"), shown(mount, "mount_point"));
}

int say(const Error& error) {
  fmt::print(stderr, "nfsrdmactl: {}\n", error.message());
  return kFailed;
}

Result<std::vector<Mount>> chosen(const std::vector<std::string>& names) {
  if (names.empty()) {
    Mounts mounts = all_mounts();
    for (const Error& error : mounts.silent) say(error);
    for (const Error& error : mounts.refuted) say(error);
    return std::move(mounts.answer);
  }
  std::vector<Mount> mounts;
  for (const auto& name : names) {
    auto mount = find_mount(name);
    if (!mount) return fail_from(mount);
    mounts.push_back(std::move(*mount));
  }
  return mounts;
}

}  // namespace nfsrdma::ctl
