#include "tests/bench/relay/mount_point.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "fuse/channel/init.h"
#include "fuse/channel/ring_format.h"

namespace nfsrdma::bench::relay {

Result<MountPoint> MountPoint::mount(const std::string& path, bool over_ring) {
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  for (const char* argument : {"bench-relay", "-o", "fsname=relay,subtype=bench-relay"}) {
    fuse_opt_add_arg(&arguments, argument);
  }
  const fuse_lowlevel_ops none{};  // libfuse mounts, and sees no request
  MountPoint mounted(fuse_session_new(&arguments, &none, sizeof none, nullptr));
  fuse_opt_free_args(&arguments);
  if (!mounted.session_) return fail(Error::local(EINVAL, "mount options"));
  TRY(fuse::mount_session(*mounted.session_, path));
  TRY(mounted.answer_init(over_ring));
  return mounted;
}

Result<void> MountPoint::answer_init(bool over_ring) const {
  std::array<std::byte, FUSE_MIN_READ_BUFFER> request;
  const ssize_t got = ::read(device(), request.data(), request.size());
  if (got < 0) return fail(Error::from_errno(errno, "/dev/fuse"));
  fuse_in_header header;
  fuse_init_in wanted{};
  std::memcpy(&header, request.data(), sizeof header);
  std::memcpy(&wanted, request.data() + sizeof header,
              std::min(sizeof wanted, static_cast<std::size_t>(got) - sizeof header));
  const auto agreed = fuse::negotiate(wanted, {.readdirplus = false,
                                               .explicit_invalidation = true,
                                               .posix_locks = false,
                                               .flock_locks = false,
                                               .io_uring = over_ring});
  if (!agreed || (over_ring && !(agreed->flags2 & fuse::kOverIoUring))) {
    return fail(Error::local(ENOSYS, "FUSE_INIT", "no FUSE over io_uring, or an old kernel"));
  }
  fuse_init_out init = *agreed;
  fuse_out_header out{.len = sizeof out + sizeof init, .error = 0, .unique = header.unique};
  const std::array parts{iovec{&out, sizeof out}, iovec{&init, sizeof init}};
  if (::writev(device(), parts.data(), parts.size()) >= 0) return {};
  return fail(Error::from_errno(errno, "/dev/fuse"));
}

}  // namespace nfsrdma::bench::relay
