// The event loop of the recorded part of the program, driven by the loop of the rest.
#pragma once

#include <map>
#include <memory>

#include "transport/base/reactor.h"
#include "transport/journal/recorder.h"

namespace nfsrdma::journal {

class Input;

/// What serves a mount, from the kernel's requests to the RPCs, uses this loop; connections and the
/// kernel's device use the outer one, on the same thread. It runs work in two cases only, and each
/// is an entry of the recording: something comes from outside (Input), or work that was posted or a
/// timer is due. Its clock moves only then, so that all of one entry sees the same time. Never run
/// by itself. Belongs to one thread.
class JournaledReactor final : public Reactor {
 public:
  /// Both outlive it.
  JournaledReactor(Reactor& outside, Recorder& recorder);
  ~JournaledReactor() override;

  TimePoint now() const override { return now_; }
  Duration suspended() override { return seen("time suspended", outside_.suspended()); }
  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override;
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override;
  void unwatch(int fd) override;
  /// A rerun cannot tell such wake-ups from each other: use waking_call().
  void wake_from_other_thread(std::function<void()> work) override;
  std::function<void()> waking_call(std::function<void()> work) override;
  std::size_t from_outside(const char* what, std::span<std::byte> memory,
                           std::size_t size) override;

  /// A waking call has been made and has not come.
  bool waits_for_thread() const { return waking_calls_come_ < waking_calls_; }
  Reactor& outside() { return outside_; }
  Recorder& recorder() { return recorder_; }

 private:
  friend class Input;
  class Watch;

  bool wait(Duration) override { return false; }
  void begin(Kind kind, const Body& body);
  void end();
  bool due() const;
  void work();
  void plan_next();

  Reactor& outside_;
  Recorder& recorder_;
  TimePoint now_;
  int depth_ = 0;
  std::uint32_t waking_calls_ = 0;
  std::uint32_t waking_calls_come_ = 0;
  std::uint32_t watches_made_ = 0;
  std::map<int, std::unique_ptr<Watch>> watches_;
  Deferred work_soon_;
  Timer work_later_;
};

/// Work that comes from outside, as long as this lives: recorded before it is done.
class Input {
 public:
  Input(JournaledReactor& reactor, Kind kind, const Body& body) : reactor_(reactor) {
    reactor_.begin(kind, body);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() { reactor_.end(); }

 private:
  JournaledReactor& reactor_;
};

/// The body of Kind::seen.
Body seen_body(const char* what, std::span<const std::byte> bytes);

}  // namespace nfsrdma::journal
