// A connection whose other end is an object in the test's program.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client::test {

/// Calls end, and observers are told, from the reactor, as the contract of Channel says.
class ProgramChannel : public rpc::Channel {
 public:
  /// `comes_up`: it connects; otherwise the attempt never gets an answer.
  ProgramChannel(Reactor& reactor, rpc::ChannelObserver& observer, bool comes_up = true);
  ~ProgramChannel() override { *alive_ = false; }

  void submit(rpc::Call& call) override;
  const rpc::ChannelLimits& limits() const override { return limits_; }
  void close(Error reason) override;
  std::uint64_t replies() const override { return replies_; }
  std::size_t open_calls() const override { return open_.size(); }
  void visit_counters(CounterVisitor&) const override {}

 protected:
  using Bytes = std::vector<std::byte>;

  /// The call arrives at the other end.
  virtual void process(rpc::Call& call) = 0;
  /// The connection has ended, at once for the other end.
  virtual void on_closed() {}
  virtual void end_call(rpc::Call& call) { call.observer->on_call_done(call); }

  /// Has the call open, and never sends it.
  void keep(rpc::Call& call) { open_.push_back(&call); }
  /// Ends the call with a reply that consists of results, or begins with an RPC header. Does
  /// nothing when the call has ended.
  void answer_results(rpc::Call& call, Bytes results);
  void answer_message(rpc::Call& call, Bytes message);
  /// Runs `task` from the reactor unless the channel is gone by then.
  void post(std::function<void()> task);
  void break_off(fabric::Fault fault);
  /// Ends the call unsent, and stays: its memory cannot be exposed.
  void refuse(rpc::Call& call);
  bool down() const { return down_; }
  /// False once the channel is gone: for a reply that comes later still.
  std::shared_ptr<const bool> alive() const { return alive_; }

  Reactor& reactor_;
  rpc::ChannelObserver& observer_;
  rpc::ChannelLimits limits_{4096, 4096, 16};

 private:
  void answer(rpc::Call& call, Result<rpc::Reply> reply);
  /// Ends a call of a connection that has ended.
  void lose(rpc::Call& call);
  void go_down();

  std::vector<rpc::Call*> open_;
  std::uint64_t replies_ = 0;
  bool down_ = false;
  Error reason_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace nfsrdma::client::test
