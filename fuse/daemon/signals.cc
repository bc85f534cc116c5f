#include "fuse/daemon/signals.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace nfsrdma::fuse {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// A descriptor would bring ignored signals, too.
sigset_t signals_to_take(bool always_hang_up) {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGTERM, SIGUSR1}) sigaddset(&set, number);
  if (!is_ignored(SIGINT)) sigaddset(&set, SIGINT);
  if (always_hang_up || !is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Signals::~Signals() {
  if (!signals_) return;
  reactor_.unwatch(signals_.get());
  ::pthread_sigmask(SIG_UNBLOCK, &taken_, nullptr);
}

Result<void> Signals::start(bool always_hang_up) {
  ::signal(SIGPIPE, SIG_IGN);
  taken_ = signals_to_take(always_hang_up);
  ::pthread_sigmask(SIG_BLOCK, &taken_, nullptr);
  signals_.reset(::signalfd(-1, &taken_, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return fail(Error::from_errno(errno, "signalfd"));
  return reactor_.watch(signals_.get(), EPOLLIN, *this);
}

void Signals::on_ready(std::uint32_t) {
  signalfd_siginfo signal;
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    switch (signal.ssi_signo) {
      case SIGUSR1: observer_.on_dump(); break;
      case SIGHUP: observer_.on_hang_up(); break;
      default: observer_.on_terminate();
    }
  }
}

}  // namespace nfsrdma::fuse
