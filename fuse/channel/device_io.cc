#include "fuse/channel/device_io.h"

#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "fuse/channel/in_flight.h"

namespace nfsrdma::fuse {
namespace {

ssize_t read_request(int device, void* room, size_t size, void*) {
  return ::read(device, room, size);
}

/// A kernel that does not know the flag ignores it. An answer without a body is an error.
void complete(const iovec* parts, int count) {
  constexpr int header_and_body = 2;
  if (count != header_and_body || parts[1].iov_len < offsetof(fuse_init_out, max_background))
    return;
  std::uint32_t flags = 0;
  auto* place = static_cast<std::byte*>(parts[1].iov_base) + offsetof(fuse_init_out, flags);
  std::memcpy(&flags, place, sizeof flags);
  flags |= FUSE_HANDLE_KILLPRIV;
  std::memcpy(place, &flags, sizeof flags);
}

ssize_t write_answer(int device, iovec* parts, int count, void*) {
  const Dispatch* now = Dispatch::current();
  if (now && now->opcode == FUSE_INIT) complete(parts, count);
  return ::writev(device, parts, count);
}

}  // namespace

Result<void> complete_init_answer(fuse_session& session) {
  fuse_custom_io io{};
  io.read = read_request;
  io.writev = write_answer;
  const int failed = fuse_session_custom_io(&session, &io, fuse_session_fd(&session));
  if (failed) return fail(Error::from_errno(-failed, "libfuse's device functions"));
  return {};
}

}  // namespace nfsrdma::fuse
