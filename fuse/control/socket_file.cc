#include "fuse/control/socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace nfsrdma::fuse {
namespace {

constexpr const char* kSocketStep = "control socket";

}  // namespace

Result<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() > kLongestSocketPath) {
    return fail(Error::from_errno(ENAMETOOLONG, kSocketStep, path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> make_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return fail(Error::from_errno(errno, kSocketStep));
  return socket;
}

Result<bool> is_deserted(const std::string& path) {
  // connect(2) is refused by an ordinary file, too.
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  auto address = socket_address(path);
  if (!address) return fail_from(address);
  auto probe = make_socket();
  if (!probe) return fail_from(probe);
  const auto* there = reinterpret_cast<const sockaddr*>(&*address);
  return ::connect(probe->get(), there, sizeof *address) != 0 && errno == ECONNREFUSED;
}

}  // namespace nfsrdma::fuse
