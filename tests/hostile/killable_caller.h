// A thread that requests are made for, so that its end is that of a caller that was killed.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace nfsrdma::hostile {

class KillableCaller {
 public:
  KillableCaller()
      : thread_([this] {
          number_.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
          end_.get_future().wait();
        }),
        pid_(number_.get_future().get()) {}
  ~KillableCaller() { kill(); }

  pid_t pid() const { return pid_; }
  /// The thread has gone from /proc when this returns.
  void kill() {
    if (!thread_.joinable()) return;
    end_.set_value();
    thread_.join();
    while (::syscall(SYS_tgkill, ::getpid(), pid_, 0) == 0) ::sched_yield();
  }

 private:
  std::promise<pid_t> number_;
  std::promise<void> end_;
  std::thread thread_;
  pid_t pid_;
};

}  // namespace nfsrdma::hostile
