// The connection end of FakeServer.
#pragma once

#include <vector>

#include "tests/client/fake_server.h"

namespace nfsrdma::client::test {

/// Calls end, and observers are told, from the reactor, as the contract says.
class FakeChannel final : public rpc::Channel {
 public:
  FakeChannel(Reactor& reactor, FakeServer& server, rpc::ChannelObserver& observer, int number);
  ~FakeChannel() override;

  void submit(rpc::Call& call) override;
  const rpc::ChannelLimits& limits() const override { return limits_; }
  void close(Error reason) override;
  std::uint64_t replies() const override { return replies_; }
  std::size_t open_calls() const override { return open_.size(); }
  std::size_t calls_in_flight() const override { return server_.sends_nothing ? 0 : open_.size(); }
  void visit_counters(CounterVisitor&) const override {}

  /// Answers what FakeServer held back.
  void release();
  void deliver(rpc::BackwardCall& call) { observer_.on_backward_call(call); }
  rpc::ChannelLimits& mutable_limits() { return limits_; }

 private:
  struct Held {
    rpc::Call* call;
    std::vector<std::byte> reply;
  };

  void process(rpc::Call& call);
  void finish(rpc::Call& call, std::vector<std::byte> reply);
  void go_down();

  Reactor& reactor_;
  FakeServer& server_;
  rpc::ChannelObserver& observer_;
  const int number_;
  rpc::ChannelLimits limits_{4096, 4096, 16};
  std::vector<rpc::Call*> open_;
  std::vector<Held> held_;
  std::uint64_t replies_ = 0;
  bool down_ = false;
  Error reason_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace nfsrdma::client::test
