#include "transport/fabric/verbs/presence.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

namespace nfsrdma::fabric::verbs {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband";
constexpr const char* kFiles = "/dev/infiniband/";

constexpr const char* kVerbs = "/sys/class/infiniband_verbs";

/// Names in a directory of sysfs; none when it does not exist.
std::vector<std::string> names_in(const char* directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

Result<void> check_file(const std::string& path) {
  if (::access(path.c_str(), R_OK | W_OK) == 0) return {};
  if (errno == EACCES || errno == EPERM) {
    return fail(Error::local(EACCES, "RDMA device", "this user may not open " + path));
  }
  return fail(Error::local(ENODEV, "RDMA device",
                           "there is no " + path +
                               ": load the modules rdma_ucm and ib_uverbs; a container needs "
                               "/dev/infiniband passed in"));
}

/// One device file that can be opened is enough, since it is not known yet which one is needed.
Result<void> check_any_device_file() {
  Result<void> result = check_file(kFiles + std::string("uverbs0"));
  for (const auto& name : names_in(kVerbs)) {
    if (!name.starts_with("uverbs")) continue;
    result = check_file(kFiles + name);
    if (result) break;
  }
  return result;
}

}  // namespace

Result<void> check_presence() {
  if (names_in(kDevices).empty()) {
    return fail(Error::local(ENODEV, "RDMA device", "this machine has none (see rdma link)"));
  }
  TRY(check_file(kFiles + std::string("rdma_cm")));
  return check_any_device_file();
}

}  // namespace nfsrdma::fabric::verbs
