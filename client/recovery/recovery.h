// The recovery of one client id: what the server has lost is made anew, step by step, in the order
// of the Linux kernel's state manager.
//
//   1  client id          EXCHANGE_ID, when the server does not know the client any more
//   2  session            CREATE_SESSION, when the session is gone; limits are read anew
//   3  binding            BIND_CONN_TO_SESSION, on every new connection and when the server asks
//   4  reclaim            states of a client id that is new, within the server's grace period
//   5  RECLAIM_COMPLETE   once for every client id, also when there was nothing to reclaim
//   6  reopen             states that could not be reclaimed, or were refused, are opened anew
//   7  revoked states     TEST_STATEID and FREE_STATEID, when the server says that there are some
//
// Steps 1 to 5 have a connection to themselves: requests are held back, those on the wire are
// waited for (drained) before their session goes. Steps 6 and 7 use ordinary requests, and only
// who uses the states in question waits.
//
// An error of a step either names another step to take first (NFS4ERR_STALE_CLIENTID: the client
// id) or ends the connection; the next one goes on with what is left to do. The number of detours
// on one connection is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/recovery/callback_path.h"
#include "client/recovery/reclaimer.h"
#include "client/session/session.h"
#include "client/session/session_setup.h"
#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/rpc/connection_keeper.h"

namespace nfsrdma::client {

/// See the head of this file. Belongs to one shard.
class Recovery final : public rpc::ChannelBinder, public StateObserver {
 public:
  Recovery(Reactor& reactor, Session& session, SessionSetup& session_setup,
           CallbackHandler& callbacks);

  void attach(rpc::ConnectionKeeper& keeper) { keeper_ = &keeper; }
  /// See Reclaimer; outlives this.
  void add(Reclaimer& reclaimer) { reclaimers_.push_back(&reclaimer); }

  Task<Result<void>> on_new_channel(rpc::Channel& channel) override;
  void on_backward_call(rpc::BackwardCall& call) override;
  void on_channel_lost(const Error& reason) override;
  Duration longest_pause() const override;
  /// longest_pause() is as short as can be from now on.
  void hurry() { hurrying_ = true; }

  void on_status_flags(std::uint32_t flags) override;
  void on_session_lost(const char* reason) override;
  void on_not_bound() override;
  void on_state_refused() override;
  bool recovering() const override { return needs_ != 0 || reopening_; }
  bool in_doubt() const override { return needs_ != 0 || look_for_revoked_ || looking_; }
  /// A new session although the server still has the old one. `reason` is for the log.
  void replace_session(const char* reason);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  /// What is left to do; the lowest bit comes first.
  enum Need : std::uint32_t {
    kClientId = 1,
    kSession = 2,
    kBinding = 4,
    kReclaim = 8,
    kComplete = 16,
  };

  Task<Result<void>> work(rpc::Channel& channel);
  Task<Result<void>> take(Need step, rpc::Channel& channel);
  Task<Result<void>> renew_client_id(rpc::Channel& channel);
  Task<Result<void>> renew_session(rpc::Channel& channel);
  Task<Result<void>> bind(rpc::Channel& channel);
  Task<Result<void>> reclaim(rpc::Channel& channel);
  Task<Result<void>> complete(rpc::Channel& channel);
  bool redirect(Need step, const Error& error);
  void need(std::uint32_t what) { needs_ |= what; }
  void done(std::uint32_t what) { needs_ &= ~what; }
  /// Holds back requests, waits for those on the wire, and starts over on the living connection.
  void start_reset(const char* reason);
  Task<void> reset();
  void rebind();
  void forget_all();
  std::size_t pending() const;
  void start_mending();
  Task<void> reopen();
  void note_callback_path(std::uint32_t flags);
  void note_revoked(std::uint32_t flags);

  Reactor& reactor_;
  Session& session_;
  SessionSetup& session_setup_;
  CallbackHandler& callbacks_;
  rpc::ConnectionKeeper* keeper_ = nullptr;
  std::vector<Reclaimer*> reclaimers_;
  std::uint32_t needs_ = kClientId | kSession;
  bool had_client_ = false;     // there was a client id before: its states are to be reclaimed
  bool resetting_ = false;      // reset() runs
  bool rebinding_ = false;      // on_new_channel comes for a connection that is bound already
  bool bound_anew_ = false;     // this connection was bound once more
  bool destroy_first_ = false;  // the session that is replaced lives
  bool reopening_ = false;      // reopen() runs
  bool reopen_again_ = false;   // something more was refused meanwhile
  bool look_for_revoked_ = false;
  bool looking_ = false;  // for revoked states, and at what becomes of them
  bool hurrying_ = false;
  std::uint32_t noted_flags_ = 0;  // SEQ4_STATUS_* that have been acted on and are still set
  std::optional<TimePoint> revoked_looked_at_;
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
