#include "tests/responder/transport/rdma_connection.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

/// "10.0.0.1" of "10.0.0.1:700", "[::1]" of "[::1]:700".
std::string host_of(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

bool is_reply(std::span<const std::byte> stream) {
  xdr::Decoder in(stream);
  in.u32("xid");
  const auto type = in.u32("msg_type");
  return in.ok() && type == static_cast<std::uint32_t>(rpc::MessageType::reply);
}

}  // namespace

RdmaConnection::RdmaConnection(Core& core, ConnectionOwner& owner, std::uint64_t id)
    : core_(core),
      owner_(owner),
      id_(id),
      receives_(std::make_shared<ReceiveSet>(*core.pools.messages, core.config.inline_size)),
      backward_(core) {}

RdmaConnection::~RdmaConnection() {
  endpoint_.reset();
  if (!ended_) end(Error::local(ECANCELED, "responder", "stopped"));
}

Result<void> RdmaConnection::accept(fabric::ConnectRequest& request) {
  rdma::PrivateData own;
  own.send_size = own.receive_size = core_.config.inline_size;
  own.remote_invalidation = core_.config.remote_invalidation;
  const auto client = rdma::decode_private_data(request.private_data());
  thresholds_ = rdma::agree(client, own);
  client_ = host_of(request.peer());
  const auto encoded = rdma::encode_private_data(own);
  fabric::EndpointOptions options;
  options.private_data = encoded;
  options.crc = core_.config.crc;
  options.capture = core_.config.capture;
  auto endpoint = request.accept(*this, options);
  if (!endpoint) return fail_from(endpoint);
  endpoint_ = std::move(*endpoint);
  return receives_->grow(*endpoint_, receives_for(core_.credit_limit()));
}

std::size_t RdmaConnection::receives_for(std::uint32_t credits) const {
  return credits + core_.config.backward_credits + kSpareReceives;
}

void RdmaConnection::disconnect(const char* why) {
  if (std::exchange(closing_, true)) return;
  log::info("connection {} of {}: closing: {}", id_, client_, why);
  endpoint_->disconnect(
      Error{Layer::fabric, static_cast<int>(fabric::Fault::local_close), "responder", why});
}

std::uint32_t RdmaConnection::grant() {
  const auto wanted = std::clamp(requested_, 1U, core_.credit_limit());
  if (!closing_ && !receives_->grow(*endpoint_, receives_for(wanted))) {
    log::warning("connection {}: no receives for {} credits", id_, wanted);
  }
  const auto backed = receives_->size() - core_.config.backward_credits - kSpareReceives;
  granted_ = std::min(wanted, static_cast<std::uint32_t>(backed));
  return granted_;
}

void RdmaConnection::repost(Receive& receive) {
  --receives_in_use_;
  if (closing_) return;
  if (!endpoint_->post_receive(receive)) disconnect("a receive could not be posted");
}

void RdmaConnection::note_writes_for(std::uint32_t xid) {
  recent_writes_[recent_writes_count_++ % kRecentWrites] = xid;
}

Result<void> RdmaConnection::call_back(std::uint32_t program,
                                       std::function<void(xdr::Encoder&)> encode,
                                       std::function<void(Result<xdr::Decoder>)> done) {
  if (closing_) return fail(Error::local(ENOTCONN, "callback", "the connection is closing"));
  return backward_.call(*endpoint_, max_backward_message(), program, encode, std::move(done));
}

std::size_t RdmaConnection::max_backward_message() const { return thresholds_.reply; }

void RdmaConnection::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                                std::optional<std::uint32_t> /*invalidated*/) {
  auto& receive = static_cast<Receive&>(buffer);
  ++receives_in_use_;
  core_.counters.inline_received_octets.add(length);
  RdmaCall* call = core_.acquire_call();
  if (!call) return disconnect("too many calls");
  call->begin(*this, receive);
  calls_.push_back(*call);
  take_message(*call, receive.memory.first(length));
}

void RdmaConnection::take_message(RdmaCall& call, std::span<const std::byte> message) {
  xdr::Decoder in(message);
  auto& header = call.transport_header();
  const auto fault = rdma::decode_header(in, header);
  const bool is_error = fault == rdma::HeaderFault::none && header.proc == rdma::RDMA_ERROR;
  if (is_error) return take_error(call);
  const bool is_withdrawn = fault == rdma::HeaderFault::withdrawn_proc;
  if (is_withdrawn && header.proc == rdma::RDMA_DONE) {
    core_.counters.dropped_done.add();
    return call.abandon();
  }
  if (message.size() < rdma::kMinHeader || fault == rdma::HeaderFault::too_short) {
    core_.counters.dropped_short.add();
    return call.abandon();
  }
  if (fault == rdma::HeaderFault::none) return take_stream(call, message.subspan(in.offset()));
  log::warning("connection {}: XID {:#x}: {}", id_, header.rdma_xid,
               rdma::header_fault_name(fault));
  if (header.proc == rdma::RDMA_ERROR) {
    core_.counters.dropped_error.add();
    return call.abandon();
  }
  call.refuse(fault == rdma::HeaderFault::version ? rdma::ERR_VERS : rdma::ERR_CHUNK);
}

void RdmaConnection::take_error(RdmaCall& call) {
  if (!backward_.on_error(call.transport_header())) core_.counters.dropped_error.add();
  call.abandon();
}

void RdmaConnection::take_stream(RdmaCall& call, std::span<const std::byte> stream) {
  const auto& header = call.transport_header();
  if (header.proc == rdma::RDMA_NOMSG || !is_reply(stream)) return take_call(call, stream);
  if (!backward_.on_reply(header, stream)) core_.counters.dropped_reply.add();
  call.abandon();
}

void RdmaConnection::take_call(RdmaCall& call, std::span<const std::byte> stream) {
  requested_ = call.transport_header().rdma_credit;
  if (receives_in_use_ > granted_) core_.counters.credit_overruns.add();
  call.accept(stream);
}

void RdmaConnection::on_send_done(void* context) { static_cast<SendOwner*>(context)->on_sent(); }

void RdmaConnection::on_read_done(void* context) {
  static_cast<RdmaCall*>(context)->on_read_done();
}

void RdmaConnection::blame_calls(const Error& reason) {
  if (!reason.is(Layer::fabric, static_cast<int>(fabric::Fault::remote_terminate)) &&
      !reason.is(Layer::fabric, static_cast<int>(fabric::Fault::remote_access))) {
    return;
  }
  std::vector<std::uint32_t> suspects;
  calls_.for_each([&](RdmaCall& call) {
    if (call.pulling()) suspects.push_back(call.xid());
  });
  const auto remembered = std::min(recent_writes_count_, kRecentWrites);
  suspects.insert(suspects.end(), recent_writes_.begin(), recent_writes_.begin() + remembered);
  for (const auto xid : suspects) {
    core_.failed_calls.suspect(client_, xid, suspects.size() == 1);
  }
}

void RdmaConnection::on_disconnected(const Error& reason) {
  core_.counters.disconnections.add();
  log::info("connection {} of {} ended: {}", id_, client_, reason.message());
  blame_calls(reason);
  end(reason);
  owner_.on_connection_ended(*this);
}

void RdmaConnection::end(const Error& reason) {
  ended_ = closing_ = true;
  // First all out of the queues: what one call gives back must not start another of this list.
  calls_.for_each([&](RdmaCall& call) { core_.forget(call); });
  const auto receives = receives_;
  calls_.for_each([&](RdmaCall& call) { call.on_connection_lost(receives); });
  backward_.on_connection_lost(reason);
  core_.service.on_connection_closed(*this);
}

}  // namespace nfsrdma::responder
