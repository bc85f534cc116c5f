// Threads beside the reactor's.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma {

/// While this lives the calling thread takes no signal, and threads it starts never will.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Where a thread is missing from now on.
inline void report_no_thread(const std::system_error& error) {
  log::error("a thread cannot be started: {}; raise RLIMIT_NPROC, or pids.max of the container",
             error.code().message());
}

/// Like std::thread's constructor. Signals stay with the reactor's thread, which reads them from a
/// descriptor: another thread that took one would end the program. Where the system has no room for
/// a thread (RLIMIT_NPROC, pids.max) the result is not joinable, and the log says so: an exception
/// would end the mount with all data that it has not sent.
template <class... Args>
std::thread start_without_signals(Args&&... args) {
  const SignalsBlocked blocked;
  try {
    return std::thread(std::forward<Args>(args)...);
  } catch (const std::system_error& error) {
    report_no_thread(error);
    return {};
  }
}

/// The same for a thread that nobody waits for. False: it was not started.
template <class... Args>
bool start_detached(Args&&... args) {
  std::thread thread = start_without_signals(std::forward<Args>(args)...);
  if (!thread.joinable()) return false;
  thread.detach();
  return true;
}

}  // namespace nfsrdma
