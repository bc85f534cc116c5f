// The recovery of one client id: restores step by step the state that the server has lost, in the
// order of the Linux kernel's state manager.
//
//   1  client id          EXCHANGE_ID, when the server does not know the client any more
//   2  session            CREATE_SESSION, when the session is gone; limits are read anew
//   3  binding            BIND_CONN_TO_SESSION, on every new connection and when the server asks
//   4  reclaim            states of a client id that is new, within the server's grace period
//   5  RECLAIM_COMPLETE   once for every client id, also when there was nothing to reclaim
//   6  reopen             states that could not be reclaimed, or were refused, are opened anew
//   7  revoked states     TEST_STATEID and FREE_STATEID, when the server says that there are some
//
// Steps 1 to 5 have a connection to themselves: new requests are held back, and requests on the
// wire must end (drain) before their session goes. Steps 6 and 7 use ordinary requests, and only
// operations that use the states in question wait.
//
// An error of a step either names another step to take first (NFS4ERR_STALE_CLIENTID: the client
// id) or ends the connection; the next connection goes on with the steps that are left. The number
// of detours on one connection is bounded.
//
// Where the steps 1 to 5 are (Phase):
//
//               a new connection                    the session is lost
//      +------------------------------- steady ------------------------------+
//      |                                 ^  |                                |
//      |      done, or the connection    |  | not bound, or                  v
//      |      ends: the next one goes on |  | no callbacks               draining
//      v                                 |  v                                |
//   stepping <---------------------------+- rebinding <----------------------+
//      ^        the trunk hands over           requests on the wire have ended
//      |        the connection that is up
//      +---- draining, when a new connection comes first
//
// Steps 6 and 7 are StateWork: idle -> reopening -> idle, or idle -> looking (for revoked states)
// -> idle, repeated as long as more is wanted meanwhile. Both may run at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "client/recovery/callback_path.h"
#include "client/recovery/reclaimer.h"
#include "client/session/session.h"
#include "client/session/session_setup.h"
#include "client/trunk/trunk.h"
#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// See the head of this file. Belongs to one shard.
class Recovery final : public TrunkObserver, public StateObserver {
 public:
  /// `reclaimers`: in the order of dependence. All references outlive this.
  Recovery(Reactor& reactor, Session& session, SessionSetup& session_setup,
           std::vector<Reclaimer*> reclaimers, Trunk& trunk);

  Task<Result<void>> on_new_channel(rpc::Channel& channel) override;
  void on_channel_lost(const Error& reason) override;
  Duration longest_pause() const override;
  /// Calls `told` whenever the server has forgotten all states: it may have restarted with other
  /// settings. Requests wait at that time.
  void watch_restarts(std::function<void()> told) { restarted_ = std::move(told); }
  /// longest_pause() is as short as can be from now on.
  void hurry() { hurrying_ = true; }

  void on_status_flags(std::uint32_t flags) override;
  void on_session_lost(const char* reason, bool kept) override;
  void on_not_bound() override;
  void on_state_refused() override;
  bool recovering() const override { return needs_ != 0 || state_work_ != StateWork::idle; }
  bool in_doubt() const override {
    return needs_ != 0 || unseen_revocation_ || wants(kLookForRevoked) ||
           state_work_ == StateWork::looking;
  }
  /// A new session although the server still has the old one. `reason` is for the log.
  void replace_session(const char* reason);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  /// Steps left to do; the lowest bit comes first.
  enum Need : std::uint32_t {
    kClientId = 1,
    kOldSession = 2,  ///< the session that is replaced lives: DESTROY_SESSION
    kSession = 4,
    kBinding = 8,
    kReclaim = 16,
    kComplete = 32,
  };
  /// See the head of this file.
  enum class Phase : std::uint8_t {
    steady,     ///< nothing runs; perhaps a connection is being waited for
    draining,   ///< requests are held back, those on the wire waited for
    rebinding,  ///< the trunk has been asked for the connection that is up
    stepping,   ///< on_new_channel runs
  };
  enum class StateWork : std::uint8_t { idle, reopening, looking };
  /// For the next round of StateWork.
  enum StateTask : std::uint32_t { kReopen = 1, kLookForRevoked = 2 };

  Task<Result<void>> work(rpc::Channel& channel);
  Task<Result<void>> take(Need step, rpc::Channel& channel);
  Task<Result<void>> renew_client_id(rpc::Channel& channel);
  Task<Result<void>> destroy_old_session(rpc::Channel& channel);
  Task<Result<void>> renew_session(rpc::Channel& channel);
  Task<Result<void>> bind(rpc::Channel& channel);
  Task<Result<void>> reclaim(rpc::Channel& channel);
  Task<Result<void>> complete(rpc::Channel& channel);
  /// What is needed when a connection was lost between the steps: see on_new_channel.
  std::uint32_t interrupted() const;
  bool redirect(Need step, const Error& error);
  void need(std::uint32_t what) { needs_ |= what; }
  void done(std::uint32_t what) { needs_ &= ~what; }
  bool wants(StateTask what) const { return (state_tasks_ & what) != 0; }
  /// Holds back requests, waits for those on the wire, and starts over on the living connection.
  void start_reset(const char* reason);
  /// How long requests of a session that is to go are waited for.
  Duration drain_patience() const;
  Task<void> wire_drained();
  Task<void> drain();
  void rebind();
  void forget_all();
  std::size_t pending() const;
  void start_state_work();
  Task<void> work_on_states();
  void note_callback_path(std::uint32_t flags);
  std::uint32_t unmended() const;
  void note_revoked(std::uint32_t flags, std::uint32_t fresh);

  Reactor& reactor_;
  Session& session_;
  SessionSetup& session_setup_;
  const std::vector<Reclaimer*> reclaimers_;
  std::function<void()> restarted_;
  Trunk& trunk_;
  std::uint32_t needs_ = kClientId | kSession;
  Phase phase_ = Phase::steady;
  StateWork state_work_ = StateWork::idle;
  std::uint32_t state_tasks_ = 0;
  bool bound_again_ = false;  // this connection was bound once more
  bool hurrying_ = false;
  std::uint32_t noted_flags_ = 0;  // SEQ4_STATUS_* that have been acted on and are still set
  std::optional<TimePoint> revoked_looked_at_;
  bool unseen_revocation_ = false;  // it is too early to look for what was revoked
  CallbackPath callback_path_;

  log::Limit flag_lines_;  // a server may change them with every answer
  log::Limit reset_lines_;
  Counter client_ids_;
  Counter sessions_;
  Counter binds_;
  Counter reclaim_rounds_;
  Counter completes_;
  Counter detours_;
  Counter revoked_rounds_;
};

}  // namespace nfsrdma::client
