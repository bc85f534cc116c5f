// A Channel is one live connection that carries RPCs both ways. RPC-over-RDMA and TCP implement it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>

#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rpc {

/// Limits of a connection; fixed once it is up.
struct ChannelLimits {
  std::size_t max_backward_call = 0;     ///< bytes of a callback's RPC message
  std::size_t max_backward_reply = 0;    ///< bytes of the RPC message that answers it
  std::uint32_t max_backward_calls = 0;  ///< callbacks this side takes at once
};

/// A call from the server, to be answered exactly once. Owned by the channel until answered.
class BackwardCall {
 public:
  /// Decoded and checked: program, version, procedure, XID.
  virtual const CallHeader& header() const = 0;
  /// Stands at the procedure's arguments.
  virtual xdr::Decoder& arguments() = 0;
  /// The encoder for the results; the reply header is already there.
  virtual xdr::Encoder& results() = 0;
  /// Sends the encoded results (accept_stat SUCCESS) or, for another status, only the status.
  /// Destroys the object. Harmless when the connection is gone.
  virtual void answer(AcceptStat status) = 0;

 protected:
  ~BackwardCall() = default;
};

/// Told of a channel's life. Called on the reactor's thread, never from within submit().
class ChannelObserver {
 public:
  /// Connected; calls may be submitted. Comes once.
  virtual void on_channel_up() = 0;
  /// The connection is ending: nothing submitted from now on is sent. Comes at most once, before
  /// the open calls end, so that their owners do not submit them again on this channel.
  virtual void on_channel_closing(const Error&) {}
  /// A callback arrived. May be answered now or later.
  virtual void on_backward_call(BackwardCall& call) = 0;
  /// The last call. Every submitted call has ended before it (with an Error of Layer::fabric), all
  /// memory is out of the server's reach. Also comes when connecting failed.
  virtual void on_channel_down(const Error& reason) = 0;

 protected:
  ~ChannelObserver() = default;
};

class Channel {
 public:
  virtual ~Channel() = default;

  /// Queues a call; it ends with call.observer->on_call_done(call), never from within submit().
  /// The call and all memory it names must stay until then.
  virtual void submit(Call& call) = 0;
  /// An unhurried call that is kept goes at the end of this turn: somebody waits for it now.
  virtual void hurry() {}
  /// Valid after on_channel_up.
  virtual const ChannelLimits& limits() const = 0;
  /// Bytes of the largest RPC reply that needs no Reply chunk at present. 0: this transport has no
  /// chunks.
  virtual std::size_t max_inline_reply() const { return 0; }
  /// Ends the connection: every open call fails, then on_channel_down.
  virtual void close(Error reason) = 0;
  /// Replies received so far.
  virtual std::uint64_t replies() const { return 0; }
  /// Calls sent and not yet answered, plus calls waiting for a credit.
  virtual std::size_t open_calls() const = 0;
  /// Of these, the ones that were sent.
  virtual std::size_t calls_in_flight() const { return open_calls(); }
  virtual void visit_counters(CounterVisitor& visitor) const = 0;
};

/// Makes connections to one server; a new Channel for each attempt. The observer outlives the
/// channel; the channel is destroyed by Reactor::dispose after on_channel_down.
class ChannelFactory {
 public:
  virtual ~ChannelFactory() = default;
  virtual Result<std::unique_ptr<Channel>> connect(ChannelObserver& observer) = 0;
  /// Asked after a connection has failed: it failed in a way that told how to make the next one,
  /// which is worth trying at once. True at most once for each thing learned.
  virtual bool try_again_at_once() { return false; }
  virtual std::string_view description() const = 0;  ///< "rdma via iwarp to 127.0.0.1:20049"
};

/// Awaits the end of a call: `co_await submit(channel, call);` then look at call.reply.
class submit final : private CallObserver {
 public:
  submit(Channel& channel, Call& call) : channel_(channel), call_(call) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    origin_ = present_origin();
    call_.reply.reset();
    call_.observer = this;
    channel_.submit(call_);
  }
  void await_resume() const noexcept {}

 private:
  void on_call_done(Call&) override {
    const OriginScope scope(origin_);
    waiter_.resume();
  }

  Channel& channel_;
  Call& call_;
  std::coroutine_handle<> waiter_;
  Origin origin_ = kNoOrigin;
};

}  // namespace nfsrdma::rpc
