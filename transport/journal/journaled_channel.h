// Records what passes over a connection: whole RPCs, whatever carries them.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "transport/journal/journaled_reactor.h"
#include "transport/journal/messages.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::journal {

/// Wraps a channel, which has the outer loop, for a user that has the journaled one.
class JournaledChannel final : public rpc::Channel,
                               private rpc::ChannelObserver,
                               private rpc::CallObserver {
 public:
  /// The reactor and `observer` outlive it. `connection`: its number.
  static Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelFactory& channels,
                                                       JournaledReactor& reactor,
                                                       std::uint32_t connection,
                                                       rpc::ChannelObserver& observer);
  ~JournaledChannel() override;

  void submit(rpc::Call& call) override;
  void hurry() override { channel_->hurry(); }
  const rpc::ChannelLimits& limits() const override { return channel_->limits(); }
  std::size_t max_inline_reply() const override;
  void close(Error reason) override;
  std::uint64_t replies() const override;
  std::size_t open_calls() const override;
  std::size_t calls_in_flight() const override;
  void visit_counters(CounterVisitor& visitor) const override { channel_->visit_counters(visitor); }

 private:
  class Callback;
  struct Open {
    std::uint32_t number = 0;
    rpc::CallObserver* observer = nullptr;
  };

  JournaledChannel(JournaledReactor& reactor, std::uint32_t connection,
                   rpc::ChannelObserver& observer)
      : reactor_(reactor), connection_(connection), observer_(observer) {}

  void on_channel_up() override;
  void on_channel_closing(const Error& reason) override;
  void on_backward_call(rpc::BackwardCall& call) override;
  void on_channel_down(const Error& reason) override;
  void on_call_done(rpc::Call& call) override;

  JournaledReactor& reactor_;
  const std::uint32_t connection_;
  rpc::ChannelObserver& observer_;
  std::uint32_t calls_ = 0;
  std::uint32_t callbacks_ = 0;
  std::unordered_map<rpc::Call*, Open> open_;
  std::unique_ptr<rpc::Channel> channel_;
};

/// A factory whose channels are recorded.
class JournaledFactory final : public rpc::ChannelFactory {
 public:
  /// The reactor outlives it.
  JournaledFactory(std::unique_ptr<rpc::ChannelFactory> channels, JournaledReactor& reactor)
      : channels_(std::move(channels)), reactor_(reactor) {}

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override;
  bool try_again_at_once() override {
    return reactor_.seen("another way to connect", channels_->try_again_at_once());
  }
  std::string_view description() const override { return channels_->description(); }

 private:
  std::unique_ptr<rpc::ChannelFactory> channels_;
  JournaledReactor& reactor_;
  std::uint32_t connections_ = 0;
};

}  // namespace nfsrdma::journal
