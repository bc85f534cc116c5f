// One client's connection and the proxy's own to the server that stands for it.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "tests/lab/proxy/upstream.h"
#include "tests/responder/service.h"
#include "transport/rpc/call.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::lab::proxy {

/// Forwards calls to the server and callbacks to the client. When either connection ends, so does
/// the other one. Belongs to the reactor's thread; ended() says when it may be destroyed.
class Relay final : private rpc::ChannelObserver, private rpc::CallObserver {
 public:
  /// `ended` is called once, when neither side has anything of it.
  Relay(Reactor& reactor, const UpstreamOptions& options, responder::Connection& client,
        std::function<void(Relay&)> ended);
  Relay(const Relay&) = delete;
  ~Relay() = default;

  /// Whose connection it is; null once that is closed.
  const responder::Connection* client() const { return client_; }
  /// Takes over a call of the client: answers it, or drops it when the server cannot be reached.
  void forward(responder::ServerCall& call);
  /// The client's connection is closed.
  void on_client_closed();

 private:
  struct Forwarded {
    explicit Forwarded(Buffer head) : call(std::move(head)) {}
    rpc::Call call;
    responder::ServerCall* from = nullptr;
  };

  void on_channel_up() override;
  void on_backward_call(rpc::BackwardCall& call) override;
  void on_channel_down(const Error& reason) override;
  void on_call_done(rpc::Call& call) override;

  void submit(responder::ServerCall& from);
  bool fill(Forwarded& forwarded);
  void answer(Forwarded& forwarded);
  void call_client(rpc::BackwardCall& call);
  void on_callback_done(rpc::BackwardCall& call, Result<xdr::Decoder> results);
  void call_back_waiting();
  void end_if_idle();

  Reactor& reactor_;
  responder::Connection* client_;
  std::function<void(Relay&)> ended_;
  bool up_ = false;
  bool down_ = false;
  std::size_t callbacks_ = 0;                     // open at the client
  std::deque<responder::ServerCall*> waiting_;    // until the channel is up
  std::deque<rpc::BackwardCall*> callbacks_due_;  // until the client has credits for them
  std::unique_ptr<Upstream> upstream_;
  std::list<Forwarded> open_;  // before upstream_: their memory is its
};

}  // namespace nfsrdma::lab::proxy
