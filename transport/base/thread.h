// Threads beside the reactor's.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

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

/// Like std::thread's constructor. Signals stay with the reactor's thread, which reads them from a
/// descriptor: another thread that took one would end the program.
template <class... Args>
std::thread start_without_signals(Args&&... args) {
  const SignalsBlocked blocked;
  return std::thread(std::forward<Args>(args)...);
}

}  // namespace nfsrdma
