// Keeps one connection to a server: makes it, notices its loss, makes the next one.
//
// Replay. A Call that was open when its connection died ends with an Error of Layer::fabric;
// all its memory is out of the server's reach by then. The layer that owns the session (and so
// knows slot and sequence number) awaits ready() and submits the *same* Call again, unchanged: same
// XID, same bytes (V1-4.5.5-1, RFC 8881 section 2.9.2). The keeper never resends anything. A Call
// for which is_poison() has become true must not be submitted again: it has ended connection after
// connection in the same way, and fails with its last error instead.
//
// Order of events when a connection is lost: channel() becomes null; then the open calls end; then
// ChannelBinder::on_channel_lost; then, at once the first time and after a pause otherwise, the
// next attempt; once connected, ChannelBinder::on_new_channel; once that succeeded, ready() lets
// its waiters through in the order they came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::rpc {

/// Interface to the layer above, which binds its session to a connection.
class ChannelBinder {
 public:
  /// A new connection is up and carries nothing yet, or rebind() was called. Makes or binds the
  /// session with calls that it submits on `channel` itself (Urgency::reserved). Waiters of ready()
  /// wait until it succeeds. An error ends the connection; the next attempt follows after the
  /// pause, unless this was start(). `channel` stays valid until the task has ended.
  virtual Task<Result<void>> on_new_channel(Channel& channel) = 0;
  /// The connection is gone. Comes once for every connection, after its task has ended and all
  /// open calls have ended. Answers to backward calls are dropped from now on.
  virtual void on_channel_lost(const Error& reason) = 0;
  /// The longest time until the next attempt to connect. Bounds the pause before the next
  /// attempt, and how long one that gets no answer goes on (kShortestAttempt at least).
  virtual Duration longest_pause() const = 0;

 protected:
  ~ChannelBinder() = default;
};

/// Answers the server's calls.
class BackwardCallHandler {
 public:
  /// From ChannelBinder::on_new_channel on. To be answered now or later.
  virtual void on_backward_call(BackwardCall& call) = 0;

 protected:
  ~BackwardCallHandler() = default;
};

/// Pauses between attempts, counted from the beginning of one to the beginning of the next. After
/// an established connection was lost the first attempt is made at once. The pause then starts at
/// `first` and doubles up to `longest`, or to what the binder allows; a connection that was bound
/// and got a reply sets it back to none.
///
/// A server may take every connection, answer a little and end it. The second one in succession
/// that was bound for less than `proof` is followed by a pause of `first_brief`, which doubles up
/// to `longest_brief`: each of them may still get some work done.
struct ReconnectPolicy {
  Duration first = std::chrono::seconds(5);
  Duration longest = std::chrono::seconds(30);
  Duration proof = std::chrono::milliseconds(500);
  Duration first_brief = std::chrono::milliseconds(50);
  Duration longest_brief = std::chrono::milliseconds(500);
};

/// An attempt gets at least this long to connect: SYN is repeated after 1 s and after 3 s.
inline constexpr Duration kShortestAttempt = std::chrono::seconds(5);

/// See the head of this file. Belongs to one reactor. Destroy it only before start() or after
/// close() has ended. Factory, binder and callbacks must outlive it.
class ConnectionKeeper final : private ChannelObserver {
 public:
  ConnectionKeeper(Reactor& reactor, ChannelFactory& factory, ChannelBinder& binder,
                   BackwardCallHandler& callbacks, ReconnectPolicy policy = {});
  ConnectionKeeper(const ConnectionKeeper&) = delete;
  ConnectionKeeper& operator=(const ConnectionKeeper&) = delete;
  ~ConnectionKeeper();

  /// The first connection: one attempt, bound when this succeeds. An error (of the factory, the
  /// connection or the binder) leaves the keeper as it was, and start() may be called again. After
  /// success the keeper reconnects by itself until close().
  Task<Result<void>> start();

  /// The connection that is up and bound, or null. Valid until the next return to the reactor.
  Channel* channel() const { return state_ == State::ready ? channel_.get() : nullptr; }
  /// Waits until there is one. An error (local, ESHUTDOWN) only after close().
  Task<Result<Channel*>> ready();

  /// Has the binder called again for the connection that is up, because its session must be made or
  /// bound anew. channel() is null meanwhile; open calls go on. False when there is no connection
  /// that is bound: the next one will be.
  bool rebind();
  /// Ends the present connection and makes a new one: for a peer that seems dead. False when there
  /// is none, not even one that is being made: the next attempt is due anyway.
  bool drop(Error reason);
  /// Ends the pause before the next attempt, if there is one.
  void try_at_once();
  /// Ends the connection and all attempts, for good. Every waiter of ready() gets an error.
  Task<void> close();

  /// reconnects, connect_attempts, connect_failures, and those of the present connection; of the
  /// last one while there is none.
  void visit_counters(CounterVisitor& visitor) const;

 private:
  enum class State : std::uint8_t { idle, connecting, binding, ready, ending, pausing, closed };

  void on_channel_up() override;
  void on_channel_closing(const Error& reason) override;
  void on_backward_call(BackwardCall& call) override;
  void on_channel_down(const Error& reason) override;

  void attempt();
  void give_up_attempt();
  Task<void> bind();
  void become_ready();
  void end_channel(Error reason);
  /// Called when the channel is down and when the binder's task has ended: the later one goes on.
  void finish_channel();
  void after_failure();
  void announce_loss(Duration pause);
  Duration next_pause();
  Duration next_brief_pause();

  Reactor& reactor_;
  ChannelFactory& factory_;
  ChannelBinder& binder_;
  BackwardCallHandler& callbacks_;
  const ReconnectPolicy policy_;
  Timer pause_timer_;
  Timer attempt_timer_;  // none runs for the attempt of start(), which its caller bounds
  State state_ = State::idle;
  std::unique_ptr<Channel> channel_;
  bool channel_down_ = true;   // on_channel_down came, or there never was a channel
  bool binding_task_ = false;  // the binder's task has not ended
  bool binder_knows_ = false;  // on_new_channel was called for this channel
  bool started_ = false;       // start() succeeded: reconnect from now on
  bool closing_ = false;       // close() was called
  bool proven_ = false;        // the channel was bound
  std::uint64_t replies_ = 0;  // of the channel that went down
  Duration pause_{0};
  Duration brief_pause_{0};  // before the attempt that follows a brief connection
  TimePoint attempt_begun_{0};
  TimePoint bound_at_{0};
  std::optional<Error> reason_;  // why the present or last attempt failed
  WaitQueue state_changed_;

  log::Limit loss_lines_;  // of connections that had worked; attempts that fail are rare by pauses
  log::Limit again_lines_;
  Counter attempts_;
  Counter failures_;
  Counter reconnects_;
  CounterSnapshot of_last_channel_;
};

}  // namespace nfsrdma::rpc
