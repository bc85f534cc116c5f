#include "fuse/channel/dead_connection.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// FUSE_NOTIFY_RESEND, Linux 6.9: what the program had taken and not answered can be taken again.
constexpr std::int32_t kNotifyResend = 7;
/// PIDFD_THREAD, Linux 6.9.
constexpr unsigned kOfThread = O_EXCL;
/// A program that nothing holds is gone by then, and its connection with it.
constexpr int kGraceMilliseconds = 200;

bool is_gone_within(int process, int milliseconds) {
  pollfd end{process, POLLIN, 0};
  return ::poll(&end, 1, milliseconds) == 1;
}

/// Root ends the connection by a forced unmount, which does not unmount what is in use: the dead
/// mount stays, for whoever is to see it.
void force_mount(const DeadConnection& connection) {
  const char* const path = connection.mount_point.data();
  if (*path == '\0') return;
  const OwnMount mount{path, connection.mount_device.data(), connection.mount_id};
  if (!lies_at(mount, path)) return;
  const UniqueFd in_use(::open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (in_use) ::umount2(path, MNT_FORCE | UMOUNT_NOFOLLOW);
}

/// The program's /dev/fuse, of a thread that cannot end. To keep one from the beginning would keep
/// the connection for a moment after any death of the program.
UniqueFd device_of(const DeadConnection& connection) {
  const std::string directory = "/proc/" + std::to_string(connection.program) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir(directory.c_str()), &::closedir);
  while (const dirent* const thread = threads ? ::readdir(threads.get()) : nullptr) {
    const int number = std::atoi(thread->d_name);
    if (number <= 0) continue;
    const UniqueFd of_thread(static_cast<int>(::syscall(SYS_pidfd_open, number, kOfThread)));
    UniqueFd device(
        static_cast<int>(::syscall(SYS_pidfd_getfd, of_thread.get(), connection.device, 0)));
    if (device && device_link_of(device.get()) == connection.device_link) return device;
  }
  return {};
}

void write_message(int device, std::int32_t error, std::uint64_t unique) {
  const fuse_out_header message{sizeof message, error, unique};
  [[maybe_unused]] const auto written = ::write(device, &message, sizeof message);
}

bool wants_no_answer(std::uint32_t opcode) {
  return opcode == FUSE_FORGET || opcode == FUSE_BATCH_FORGET || opcode == FUSE_INTERRUPT;
}

/// False: the connection has ended.
bool refuse_request(int device, std::span<std::byte> room) {
  const auto size = ::read(device, room.data(), room.size());
  if (size < 0) return errno == EAGAIN || errno == EINTR || errno == ENOENT;
  fuse_in_header request{};
  std::memcpy(&request, room.data(), sizeof request);
  if (!wants_no_answer(request.opcode)) write_message(device, -ENOTCONN, request.unique);
  return true;
}

/// Requests that the program had taken, and those that nobody has taken, are answered here: one of
/// them holds what a thread of the program waits for.
void refuse_requests(int device, int process, std::span<std::byte> room) {
  write_message(device, kNotifyResend, 0);
  for (;;) {
    pollfd ready[] = {{process, POLLIN, 0}, {device, POLLIN, 0}};
    const int count = ::poll(ready, 2, kGraceMilliseconds);
    if (count < 0 || ready[0].revents != 0) return;
    if (count == 0) {
      write_message(device, kNotifyResend, 0);
    } else if (!refuse_request(device, room)) {
      return;
    }
  }
}

}  // namespace

std::array<char, 32> device_link_of(int descriptor) {
  std::array<char, 32> link{};
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  if (::readlink(name.c_str(), link.data(), link.size()) < 0) link.fill(0);
  return link;
}

void end_dead_connection(const DeadConnection& connection, std::span<std::byte> room) {
  if (connection.abort_file >= 0 && ::write(connection.abort_file, "1", 1) == 1) return;
  if (connection.process < 0 || is_gone_within(connection.process, kGraceMilliseconds)) return;
  force_mount(connection);
  const UniqueFd device = device_of(connection);
  if (device) refuse_requests(device.get(), connection.process, room);
}

}  // namespace nfsrdma::fuse
