// The event loop of what is recorded, within the loop of what is not.
#pragma once

#include <map>
#include <memory>

#include "transport/base/reactor.h"
#include "transport/journal/recorder.h"

namespace nfsrdma::journal {

class Input;

/// What serves a mount, from the kernel's requests to the RPCs, has this loop; what lies outside,
/// connections and the kernel's device, has the real one, on the same thread. It does something in
/// two cases only, and each is an entry of the recording: something comes from outside (Input), or
/// there is work that was posted, or a timer is due. Its clock stands in between, so that whoever
/// looks at it twice sees the same. Never run by itself. Belongs to one thread.
class JournaledReactor final : public Reactor {
 public:
  /// Both outlive it.
  JournaledReactor(Reactor& outside, Recorder& recorder);
  ~JournaledReactor() override;

  TimePoint now() const override { return now_; }
  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override;
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override;
  void unwatch(int fd) override;
  /// Cannot be told from others when the run is made again: waking_call() can.
  void wake_from_other_thread(std::function<void()> work) override;
  std::function<void()> waking_call(std::function<void()> work) override;
  std::size_t from_outside(const char* what, std::span<std::byte> memory,
                           std::size_t size) override;

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
  std::uint32_t watches_made_ = 0;
  std::map<int, std::unique_ptr<Watch>> watches_;
  Deferred work_soon_;
  Timer work_later_;
};

/// Something comes from outside, as long as this lives: noted before it is worked on.
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
