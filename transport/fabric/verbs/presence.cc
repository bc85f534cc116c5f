#include "transport/fabric/verbs/presence.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace nfsrdma::fabric::verbs {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband";
constexpr const char* kConnectionManager = "/dev/infiniband/rdma_cm";

bool has_device() {
  std::error_code error;
  const std::filesystem::directory_iterator entries(kDevices, error);
  return !error && entries != std::filesystem::directory_iterator();
}

}  // namespace

Result<void> check_presence() {
  if (!has_device()) {
    return fail(Error::local(ENODEV, "RDMA device", "this machine has none (see rdma link)"));
  }
  if (::access(kConnectionManager, R_OK | W_OK) == 0) return {};
  if (errno == EACCES || errno == EPERM) {
    return fail(Error::local(EACCES, kConnectionManager,
                             "this user may not open it; give the user the group that owns it"));
  }
  return fail(Error::local(ENODEV, kConnectionManager,
                           "load the modules rdma_ucm and ib_uverbs; a container needs "
                           "/dev/infiniband passed in"));
}

}  // namespace nfsrdma::fabric::verbs
