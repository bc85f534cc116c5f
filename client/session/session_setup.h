// The operations that make and end client id and session, one by one, on one connection. Which of
// them are needed, and in which order, is decided in client/recovery.
#pragma once

#include "client/compound/compound_pool.h"
#include "client/session/client_id.h"
#include "client/session/session.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

/// Has the slots of the back channel; see client/callback.
class BackChannel {
 public:
  /// A new session, with the attributes that were granted.
  virtual void on_session(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back) = 0;

 protected:
  ~BackChannel() = default;
};

/// Each operation ends with the connection. `channel` must stay until it has ended, pauses
/// included. Belongs to one shard.
class SessionSetup {
 public:
  /// Program number of the callbacks (csa_cb_program), from the transient range.
  static constexpr std::uint32_t kCallbackProgram = 0x40000000;

  SessionSetup(Session& session, CompoundPool& compounds, ClientId& client,
               const Credential& caller, RequestedLimits requested, BackChannel& back_channel);

  /// EXCHANGE_ID. True when to the server this is a new client, which has no state.
  Task<Result<bool>> exchange_id(rpc::Channel& channel);
  /// CREATE_SESSION: Session::begin() has been called afterwards.
  Task<Result<void>> create_session(rpc::Channel& channel);
  /// BIND_CONN_TO_SESSION, fore and back.
  Task<Result<void>> bind(rpc::Channel& channel);
  Task<Result<void>> reclaim_complete(rpc::Channel& channel);
  /// NFS4ERR_DELAY: the server still uses it. The operations above repeat what is put off.
  Task<Result<void>> destroy_session(rpc::Channel& channel);
  /// The same, repeated until `latest`.
  Task<Result<void>> destroy_session_until(rpc::Channel& channel, TimePoint latest);
  Task<Result<void>> destroy_client(rpc::Channel& channel);

  /// The current or last step, such as "EXCHANGE_ID"; for messages.
  const char* step() const { return step_; }

 private:
  Result<void> accept_session(const nfs4::CREATE_SESSION4resok& result,
                              const nfs4::CREATE_SESSION4args& asked, TimePoint asked_at);
  /// For what is put off: it is not repeated, or without end.
  static constexpr TimePoint kNow = TimePoint::min();
  static constexpr TimePoint kForEver = TimePoint::max();
  /// One unsequenced request on the channel. NFS4ERR_DELAY is repeated until `latest` or the end of
  /// the mount; later it is left to the caller to read.
  Task<Result<void>> ask(rpc::Channel& channel, Compound& compound, TimePoint latest = kForEver);
  /// DESTROY_SESSION and DESTROY_CLIENTID: an operation whose result is a status.
  template <class Res, class Args>
  Task<Result<void>> destroy(rpc::Channel& channel, const char* step, Args args, TimePoint latest);
  CompoundRef begin(const char* step);

  Session& session_;
  CompoundPool& compounds_;
  ClientId& client_;
  const Credential caller_;
  const RequestedLimits requested_;
  BackChannel& back_channel_;
  const char* step_ = "connect";
};

}  // namespace nfsrdma::client
