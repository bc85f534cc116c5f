// Makes a connection usable: binds the session to it, or makes client id and session anew.
//
//   the session lives     BIND_CONN_TO_SESSION, fore and back
//   it is unknown         CREATE_SESSION with the client id we have; opens stay
//   that is unknown too   EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE; opens are lost
//
// All on the new connection and before anything else uses it; requests that wait for an answer are
// sent again afterwards. Each rung is tried a bounded number of times.
#pragma once

#include "client/compound/compound_pool.h"
#include "client/session/client_id.h"
#include "client/session/session.h"
#include "transport/rpc/connection_keeper.h"

namespace nfsrdma::client {

/// Serves the server's callbacks; see client/callback.
class CallbackHandler {
 public:
  virtual void on_session(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back) = 0;
  virtual void on_backward_call(rpc::BackwardCall& call) = 0;

 protected:
  ~CallbackHandler() = default;
};

/// Told when the server has forgotten this client, and with it all opens.
class LossObserver {
 public:
  virtual void on_client_forgotten() = 0;

 protected:
  ~LossObserver() = default;
};

class Establisher final : public rpc::ChannelBinder {
 public:
  /// Program number of the callbacks (csa_cb_program), from the transient range.
  static constexpr std::uint32_t kCallbackProgram = 0x40000000;

  Establisher(Session& session, CompoundPool& compounds, ClientId client, const Caller& caller,
              Wishes wishes, CallbackHandler& callbacks, LossObserver& losses);

  Task<Result<void>> on_new_channel(rpc::Channel& channel) override;
  void on_backward_call(rpc::BackwardCall& call) override;
  void on_channel_lost(const Error& reason) override;

  /// DESTROY_SESSION and DESTROY_CLIENTID on this connection.
  Task<Result<void>> destroy(rpc::Channel& channel);
  /// What it is doing or did last: "EXCHANGE_ID"; for messages.
  const char* step() const { return step_; }
  const ClientId& client() const { return client_; }

 private:
  Task<Result<void>> bind(rpc::Channel& channel);
  Task<Result<void>> renew_all(rpc::Channel& channel);
  Task<Result<void>> exchange_id(rpc::Channel& channel);
  Task<Result<void>> create_session(rpc::Channel& channel);
  Result<void> accept_session(const nfs4::CREATE_SESSION4resok& result,
                              const nfs4::CREATE_SESSION4args& asked);
  Task<Result<void>> reclaim_complete(rpc::Channel& channel);
  Task<Result<void>> destroy_session(rpc::Channel& channel);
  Task<Result<void>> destroy_client(rpc::Channel& channel);
  /// One unsequenced request on the channel. NFS4ERR_DELAY is repeated until patience ends.
  Task<Result<void>> ask(rpc::Channel& channel, Compound& compound);
  CompoundRef begin(const char* step);

  Session& session_;
  CompoundPool& compounds_;
  ClientId client_;
  const Caller caller_;
  const Wishes wishes_;
  CallbackHandler& callbacks_;
  LossObserver& losses_;
  const char* step_ = "connect";
  bool reclaim_pending_ = false;  // a client id whose RECLAIM_COMPLETE has not succeeded yet
  bool had_client_ = false;       // there was a client id before: the new one starts without state
};

}  // namespace nfsrdma::client
