// A capture that begins and ends while there are connections.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_set>

#include "transport/capture/sink.h"

namespace nfsrdma::capture {

/// Records connections that are made while it is on: one that is recorded from its middle could not
/// be dissected. Any thread may turn it; outlives its flows.
class Switch final : public Sink {
 public:
  Switch() = default;
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  /// From now on connections are recorded in `sink`. Fails when it is on already (EBUSY).
  Result<void> start(std::unique_ptr<Sink> sink);
  /// Ends the flows in the record and closes it; the connections go on. Harmless when it is off.
  void stop();
  bool on() const override;

  std::unique_ptr<Flow> open_flow(const sockaddr& local, const sockaddr& peer, bool initiator,
                                  Carried carried) override;
  void flush() override;

 private:
  class Relay;

  mutable std::mutex mutex_;
  std::unique_ptr<Sink> sink_;
  std::unordered_set<Relay*> relays_;
};

}  // namespace nfsrdma::capture
