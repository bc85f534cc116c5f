// Signals as events of the reactor.
#pragma once

#include <signal.h>

#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// Told on the reactor's thread.
class SignalObserver {
 public:
  virtual void on_terminate() = 0;  ///< SIGTERM, SIGINT
  virtual void on_hang_up() = 0;    ///< SIGHUP
  virtual void on_dump() = 0;       ///< SIGUSR1

 protected:
  ~SignalObserver() = default;
};

/// Takes over the process's signals while it lives. SIGINT and SIGHUP that the process was started
/// to ignore (nohup(1), a shell's background) it goes on ignoring. SIGPIPE is ignored for good.
class Signals final : private FdHandler {
 public:
  Signals(Reactor& reactor, SignalObserver& observer) : reactor_(reactor), observer_(observer) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// `always_hang_up`: SIGHUP is taken also if it is ignored, as it asks for something else than an
  /// end.
  Result<void> start(bool always_hang_up);

 private:
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  SignalObserver& observer_;
  sigset_t taken_{};
  UniqueFd signals_;
};

}  // namespace nfsrdma::fuse
