// Records the RPCs of a connection, whatever carries it, as NFS over TCP: each message whole, with
// the data that went by RDMA where it belongs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "transport/base/origin.h"
#include "transport/capture/sink.h"
#include "transport/net/address.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::recording {

/// Whether the caller of an RPC has been answered already, because it was killed or its patience
/// was over.
using CallerGone = std::function<bool(Origin caller)>;

/// Stands between a channel and its user. Costs allocations: only made for a connection that is to
/// be recorded. Calls are recorded when they are submitted, replies when the call has ended; an RPC
/// that is sent again on another connection is in that one's flow, with the same XID.
class RecordedChannel final : public rpc::Channel,
                              private rpc::ChannelObserver,
                              private rpc::CallObserver {
 public:
  /// A connection to `server`, which the record gives port 2049. `sink` and `observer` outlive it.
  static Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelFactory& channels,
                                                       capture::Sink& sink,
                                                       const net::Address& server,
                                                       rpc::ChannelObserver& observer,
                                                       CallerGone caller_gone = {});
  ~RecordedChannel() override;

  void submit(rpc::Call& call) override;
  void hurry() override { channel_->hurry(); }
  const rpc::ChannelLimits& limits() const override { return channel_->limits(); }
  std::size_t max_inline_reply() const override { return channel_->max_inline_reply(); }
  void close(Error reason) override { channel_->close(std::move(reason)); }
  std::uint64_t replies() const override { return channel_->replies(); }
  std::size_t open_calls() const override { return channel_->open_calls(); }
  std::size_t calls_in_flight() const override { return channel_->calls_in_flight(); }
  void visit_counters(CounterVisitor& visitor) const override { channel_->visit_counters(visitor); }

 private:
  class Callback;

  /// Of a call in flight.
  struct Open {
    rpc::CallObserver* observer = nullptr;
    Origin caller = kNoOrigin;
  };

  RecordedChannel(capture::Sink& sink, const net::Address& server, rpc::ChannelObserver& observer,
                  CallerGone caller_gone)
      : sink_(sink), server_(server), observer_(observer), caller_gone_(std::move(caller_gone)) {}

  void on_channel_up() override;
  void on_channel_closing(const Error& reason) override { observer_.on_channel_closing(reason); }
  void on_backward_call(rpc::BackwardCall& call) override;
  void on_channel_down(const Error& reason) override;
  void on_call_done(rpc::Call& call) override;
  void comment_reply(const rpc::Call& call, Origin caller);

  capture::Sink& sink_;
  const net::Address server_;
  rpc::ChannelObserver& observer_;
  const CallerGone caller_gone_;
  /// Null until the connection is up, and when it is not to be recorded. Callbacks that are not
  /// answered share it.
  std::shared_ptr<capture::Flow> flow_;
  std::unordered_map<rpc::Call*, Open> open_;
  std::unique_ptr<rpc::Channel> channel_;
};

/// A factory that records a channel if the sink is on when the channel is made; others are those of
/// the transport.
class RecordedFactory final : public rpc::ChannelFactory {
 public:
  /// `sink` outlives it.
  RecordedFactory(std::unique_ptr<rpc::ChannelFactory> channels, capture::Sink& sink,
                  const net::Address& server, CallerGone caller_gone = {})
      : channels_(std::move(channels)),
        sink_(sink),
        server_(server),
        caller_gone_(std::move(caller_gone)) {}

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override {
    if (!sink_.on()) return channels_->connect(observer);
    return RecordedChannel::connect(*channels_, sink_, server_, observer, caller_gone_);
  }
  bool try_again_at_once() override { return channels_->try_again_at_once(); }
  std::string_view description() const override { return channels_->description(); }

 private:
  std::unique_ptr<rpc::ChannelFactory> channels_;
  capture::Sink& sink_;
  const net::Address server_;
  const CallerGone caller_gone_;
};

}  // namespace nfsrdma::recording
