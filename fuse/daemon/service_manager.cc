#include "fuse/daemon/service_manager.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace nfsrdma::fuse {
namespace {

// The variable stays set: the end is told, too. Nothing here depends on a service manager that
// listens.
constexpr int kKeepEnvironment = 0;

}  // namespace

void notify_ready(const std::string& source, const std::string& mount_point) {
  const auto state = fmt::format("READY=1\nSTATUS={} is mounted on {}", source, mount_point);
  ::sd_notify(kKeepEnvironment, state.c_str());
}

void notify_stopping() { ::sd_notify(kKeepEnvironment, "STOPPING=1\nSTATUS=unmounting"); }

}  // namespace nfsrdma::fuse
