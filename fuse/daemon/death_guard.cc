#include "fuse/daemon/death_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "fuse/channel/unmount.h"

namespace nfsrdma::fuse {
namespace {

/// Without the name of the program: pkill(1) and pgrep(1) by that are to find the program alone.
constexpr const char* kName = "guard-nfs-rdma";
/// Sent by the kernel when the thread that has forked ends.
constexpr int kDeathSignal = SIGUSR2;
constexpr int kSocket = STDERR_FILENO + 1;
/// Room for a request of the kernel; memory only once one is read.
constexpr std::size_t kRoom = std::size_t{4} << 20;
/// For a process that does nothing but end.
constexpr int kEndMilliseconds = 2000;

enum class GuardWord : std::uint8_t { none, watch, end, dying };

struct GuardOrder {
  GuardWord word = GuardWord::none;
  DeadConnection connection;
};

/// Those that dump core.
constexpr int kDumping[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                            SIGFPE,  SIGSEGV, SIGSYS,  SIGXCPU, SIGXFSZ};
volatile sig_atomic_t dying_socket = -1;

void on_dumping_signal(int number) {
  constexpr GuardWord word = GuardWord::dying;
  ::send(dying_socket, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
  ::raise(number);  // by default from now on
}

void tell_of_dumps(int socket) {
  dying_socket = socket;
  for (const int number : kDumping) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    // A sanitizer reports by its own.
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = on_dumping_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(number, &action, nullptr);
  }
}

void send_order(int socket, const GuardOrder& order, int descriptor) {
  iovec part{const_cast<GuardOrder*>(&order), sizeof order};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  }
  ::sendmsg(socket, &header, MSG_NOSIGNAL);
}

/// False: the other end is closed.
bool receive_order(int socket, GuardOrder& order) {
  iovec part{&order, sizeof order};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = room.data();
  header.msg_controllen = room.size();
  const auto size = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  order.connection.abort_file = -1;
  const cmsghdr* const control = CMSG_FIRSTHDR(&header);
  if (control && control->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&order.connection.abort_file, CMSG_DATA(control), sizeof(int));
  }
  return size > 0;
}

/// What the program has open beyond the socket: a reader of its pipes must see their end, and the
/// program the end of its socket. Some containers refuse close_range(2).
void close_inherited() {
  if (::syscall(SYS_close_range, kSocket + 1U, ~0U, 0U) == 0) return;
  rlimit bound{};
  constexpr rlim_t kMost = 65536;
  const rlim_t end = ::getrlimit(RLIMIT_NOFILE, &bound) == 0 ? bound.rlim_cur : kMost;
  for (rlim_t i = kSocket + 1; i < std::min(end, kMost); ++i) ::close(static_cast<int>(i));
}

/// In the guarding process. No standard descriptor, session, working directory or name is the
/// program's: a reader of its output must see the end, and no file system stay in use.
void become_guard(int socket, std::span<char*> arguments) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, kName);
  char* const first = arguments.empty() ? nullptr : arguments.front();
  const std::size_t length = first ? arguments.back() + std::strlen(arguments.back()) - first : 0;
  if (length > 0) {
    std::memset(first, 0, length);
    std::memcpy(first, kName, std::min(length, std::strlen(kName)));
  }
  [[maybe_unused]] const int gone = ::chdir("/");
  if (socket != kSocket) ::dup3(socket, kSocket, O_CLOEXEC);
  close_inherited();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null < 0 || ::dup2(null, standard) < 0) ::close(standard);
  }
  if (null > kSocket) ::close(null);
}

/// The signal may have been sent by anybody else, too.
bool is_death(int signals, pid_t program) {
  signalfd_siginfo signal{};
  while (::read(signals, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == kDeathSignal && static_cast<pid_t>(signal.ssi_pid) == program) {
      return true;
    }
  }
  return false;
}

/// Returns when the program dies; ends the process when it ends well.
void wait_for_death(pid_t program, DeadConnection& connection) {
  ::prctl(PR_SET_PDEATHSIG, kDeathSignal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kDeathSignal);
  const int signals = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  while (::getppid() == program) {
    pollfd ready[] = {{kSocket, POLLIN, 0}, {signals, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) return;
    GuardOrder order;
    if (ready[0].revents != 0) {
      if (!receive_order(kSocket, order)) return;
      if (order.word == GuardWord::end) ::_exit(0);
      if (order.word == GuardWord::dying) return;
      if (order.word == GuardWord::watch) connection = order.connection;
    }
    if (ready[1].revents != 0 && is_death(signals, program)) return;
  }
}

[[noreturn]] void guard(int socket, pid_t program, std::span<char*> arguments) {
  become_guard(socket, arguments);
  // glibc 2.36 declares pidfd_open for C only.
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
  DeadConnection connection;
  wait_for_death(program, connection);
  void* const room = ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) ::_exit(1);
  connection.program = program;
  connection.process = process;
  end_dead_connection(connection, {static_cast<std::byte*>(room), kRoom});
  ::_exit(0);
}

template <std::size_t Size>
void copy_text(std::array<char, Size>& to, std::string_view from) {
  if (from.size() < Size) std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

DeathGuard DeathGuard::start(std::span<char*> arguments) {
  DeathGuard guarded;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return guarded;
  UniqueFd own(ends[0]);
  const UniqueFd of_guard(ends[1]);
  const pid_t program = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) guard(of_guard.get(), program, arguments);
  if (child < 0) return guarded;
  guarded.process_ = child;
  guarded.socket_ = std::move(own);
  return guarded;
}

void DeathGuard::watch(const OwnMount& mount, int device) {
  if (!socket_) return;
  GuardOrder order{GuardWord::watch, {}};
  order.connection.device = device;
  order.connection.device_link = device_link_of(device);
  UniqueFd abort_file;
  if (mount.known()) {
    abort_file = open_abort_file(mount.device);
    copy_text(order.connection.mount_point, mount.path);
    copy_text(order.connection.mount_device, mount.device);
    order.connection.mount_id = mount.id;
  }
  send_order(socket_.get(), order, abort_file.get());
  // Where Yama restricts that, it may take a descriptor of this program from a thread all the same.
  ::prctl(PR_SET_PTRACER, process_, 0, 0, 0);
  tell_of_dumps(socket_.get());
}

void DeathGuard::end() {
  if (!socket_) return;
  dying_socket = -1;
  send_order(socket_.get(), {GuardWord::end, {}}, -1);
  // Its end of the socket is closed when it has ended.
  pollfd gone{socket_.get(), 0, 0};
  ::poll(&gone, 1, kEndMilliseconds);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  socket_.reset();
  process_ = -1;
}

}  // namespace nfsrdma::fuse
