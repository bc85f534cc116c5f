#include "tests/lab/proxy/relay.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/lab/proxy/message_copy.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::proxy {
namespace {

/// The RPC status that a client is to be told; an error that is no status of a server: SYSTEM_ERR.
rpc::AcceptStat status_of(const Error& error) {
  if (error.layer != Layer::rpc) return rpc::AcceptStat::system_err;
  switch (static_cast<rpc::Fault>(error.code)) {
    case rpc::Fault::prog_unavail: return rpc::AcceptStat::prog_unavail;
    case rpc::Fault::prog_mismatch: return rpc::AcceptStat::prog_mismatch;
    case rpc::Fault::proc_unavail: return rpc::AcceptStat::proc_unavail;
    case rpc::Fault::garbage_args: return rpc::AcceptStat::garbage_args;
    default: return rpc::AcceptStat::system_err;
  }
}

void copy_rest(xdr::Decoder& in, xdr::Encoder& out) {
  const auto bytes = in.raw(in.remaining(), "message");
  if (std::byte* place = out.reserve(bytes.size()); place && !bytes.empty()) {
    std::memcpy(place, bytes.data(), bytes.size());
  }
}

}  // namespace

Relay::Relay(Reactor& reactor, const UpstreamOptions& options, responder::Connection& client,
             std::function<void(Relay&)> ended)
    : reactor_(reactor), client_(&client), ended_(std::move(ended)) {
  auto upstream = Upstream::connect(reactor, options, *this);
  if (upstream) {
    upstream_ = std::move(*upstream);
    return;
  }
  log::warning("no connection to {}: {}", options.server.text(), upstream.error().message());
  down_ = true;
}

void Relay::forward(responder::ServerCall& call) {
  if (up_) return submit(call);
  if (!down_) return waiting_.push_back(&call);
  call.drop();
  if (client_) client_->disconnect("the server cannot be reached");
}

void Relay::submit(responder::ServerCall& from) {
  const auto same = [&](const Forwarded& each) { return each.call.xid == from.header().xid; };
  Buffer head = upstream_->heads->acquire();
  // A client sends no call again on the connection it was sent on (RFC 8881 section 2.9.2).
  if (!head || std::ranges::any_of(open_, same)) return from.drop();
  Forwarded& forwarded = open_.emplace_back(std::move(head));
  forwarded.from = &from;
  if (fill(forwarded)) return upstream_->channel->submit(forwarded.call);
  open_.pop_back();
  from.reply(rpc::AcceptStat::garbage_args);
}

bool Relay::fill(Forwarded& forwarded) {
  rpc::Call& call = forwarded.call;
  responder::ServerCall& from = *forwarded.from;
  call.reset(from.header().xid);
  call.observer = this;
  call.max_reply = from.max_reply();
  const auto expected = copy_call(from.arguments(), call.xid, call.encoder);
  if (!expected || !call.encoder.ok()) return false;
  if (expected->first_read > 0) call.result_sink = from.scratch(expected->first_read);
  return true;
}

void Relay::on_call_done(rpc::Call& call) {
  const auto place =
      std::ranges::find_if(open_, [&](const Forwarded& each) { return &each.call == &call; });
  // A reply on its way to the client may make room for a call that arrives at once.
  std::list<Forwarded> ended;
  ended.splice(ended.begin(), open_, place);
  answer(ended.front());
  ended.clear();
  end_if_idle();
}

void Relay::answer(Forwarded& forwarded) {
  auto& reply = *forwarded.call.reply;
  responder::ServerCall& from = *forwarded.from;
  if (!reply && reply.error().layer == Layer::fabric) return from.drop();
  if (!reply) {
    log::warning("XID {:#x}: {}", forwarded.call.xid, reply.error().message());
    return from.reply(status_of(reply.error()));
  }
  auto sink = forwarded.call.result_sink;
  const auto memory = [&](std::size_t size) {
    if (size <= sink.size() && !sink.empty()) return std::exchange(sink, {});
    return from.scratch(size);
  };
  const auto forced = [&](std::uint32_t operation) { return from.forced_status(operation); };
  const bool whole = copy_results(reply->results, memory, forced, from.results());
  from.reply(whole ? rpc::AcceptStat::success : rpc::AcceptStat::system_err);
}

void Relay::on_channel_up() {
  up_ = true;
  for (auto* call : std::exchange(waiting_, {})) submit(*call);
}

void Relay::on_channel_down(const Error& reason) {
  up_ = false;
  down_ = true;
  log::info("connection to the server ended: {}", reason.message());
  for (auto* call : std::exchange(waiting_, {})) call->drop();
  if (client_) client_->disconnect("the server's connection has ended");
  end_if_idle();
}

void Relay::on_client_closed() {
  client_ = nullptr;
  for (auto* call : std::exchange(callbacks_due_, {})) call->answer(rpc::AcceptStat::system_err);
  for (auto* call : std::exchange(waiting_, {})) call->drop();
  if (!down_) {
    upstream_->channel->close(Error::local(ENOTCONN, "proxy", "the client has gone"));
  }
  end_if_idle();
}

void Relay::on_backward_call(rpc::BackwardCall& call) {
  if (!client_) return call.answer(rpc::AcceptStat::system_err);
  callbacks_due_.push_back(&call);
  call_back_waiting();
}

void Relay::call_back_waiting() {
  while (client_ && !callbacks_due_.empty()) {
    const std::size_t before = callbacks_due_.size();
    call_client(*callbacks_due_.front());
    if (callbacks_due_.size() == before) return;
  }
}

void Relay::call_client(rpc::BackwardCall& call) {
  const responder::CallbackTarget target{.program = call.header().program,
                                         .credential = call.header().credential,
                                         .machine_name = {},
                                         .procedure = call.header().procedure};
  auto sent = client_->call_back(
      target,
      [&call](xdr::Encoder& out) {
        xdr::Decoder in = call.arguments();
        copy_rest(in, out);
      },
      [this, &call](Result<xdr::Decoder> results) { on_callback_done(call, std::move(results)); });
  // What waits goes when a callback ends that is open: there must be one.
  if (!sent && callbacks_ > 0 && sent.error().layer == Layer::local &&
      sent.error().code == EAGAIN) {
    return;
  }
  callbacks_due_.pop_front();
  if (sent) {
    ++callbacks_;
    return;
  }
  log::warning("callback: {}", sent.error().message());
  call.answer(rpc::AcceptStat::system_err);
}

void Relay::on_callback_done(rpc::BackwardCall& call, Result<xdr::Decoder> results) {
  --callbacks_;
  if (results) {
    copy_rest(*results, call.results());
    call.answer(call.results().ok() ? rpc::AcceptStat::success : rpc::AcceptStat::system_err);
  } else {
    call.answer(status_of(results.error()));
  }
  call_back_waiting();
  end_if_idle();
}

void Relay::end_if_idle() {
  if (client_ || !down_ || !open_.empty() || callbacks_ > 0) return;
  if (ended_) std::exchange(ended_, nullptr)(*this);
}

}  // namespace nfsrdma::lab::proxy
