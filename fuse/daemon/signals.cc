#include "fuse/daemon/signals.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace nfsrdma::fuse {
namespace {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, number);
  return set;
}

}  // namespace

Signals::~Signals() {
  if (!signals_) return;
  reactor_.unwatch(signals_.get());
  const auto set = handled_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Result<void> Signals::start() {
  ::signal(SIGPIPE, SIG_IGN);
  const auto set = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_.reset(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
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
