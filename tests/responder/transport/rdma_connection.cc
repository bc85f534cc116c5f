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

rdma::PropertyPolicy policy_of(const ResponderConfig& config) {
  constexpr std::size_t kMost = rdma::kMaxReceiveBufferSize;
  rdma::PropertyPolicy policy;
  policy.own.receive_buffer_size =
      static_cast<std::uint32_t>(std::min(receive_size(config), kMost));
  policy.most_receive = static_cast<std::uint32_t>(std::min(largest_receive(config), kMost));
  policy.speaks_first = false;
  policy.supports = config.options;
  return policy;
}

}  // namespace

RdmaConnection::RdmaConnection(Core& core, ConnectionOwner& owner, std::uint64_t id)
    : core_(core),
      owner_(owner),
      id_(id),
      receives_(std::make_shared<ReceiveSet>(*core.pools.messages, receive_size(core.config))),
      backward_(core),
      properties_(*this, policy_of(core.config)) {}

RdmaConnection::~RdmaConnection() {
  endpoint_.reset();
  if (!ended_) end(Error::local(ECANCELED, "responder", "stopped"));
}

Result<void> RdmaConnection::accept(fabric::ConnectRequest& request) {
  rdma::PrivateData own;
  own.send_size = core_.config.inline_size;
  own.receive_size = std::max(core_.config.inline_size, core_.config.call_size);
  own.remote_invalidation = core_.config.remote_invalidation;
  const auto client = rdma::decode_private_data(request.private_data());
  thresholds_ = rdma::agree(client, own);
  client_ = host_of(request.peer());
  const auto encoded = rdma::encode_private_data(own);
  fabric::EndpointOptions options;
  options.private_data = encoded;
  options.crc = core_.config.crc;
  options.max_segment = core_.config.max_segment;
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
      Error{Layer::fabric, static_cast<int>(net::Fault::local_close), "responder", why});
}

void RdmaConnection::post_receives_for(std::uint32_t credits) {
  if (!closing_ && !receives_->grow(*endpoint_, receives_for(credits))) {
    log::warning("connection {}: no receives for {} credits", id_, credits);
  }
}

std::uint32_t RdmaConnection::announce(std::uint32_t credits) {
  post_receives_for(std::clamp(std::min(credits, requested_), 1U, kMaxCredits));
  granted_ = std::max(credits, 1U);
  return credits;
}

std::uint32_t RdmaConnection::grant() {
  const auto wanted = std::clamp(requested_, 1U, core_.credit_limit());
  post_receives_for(wanted);
  const auto backed = receives_->size() - core_.config.backward_credits - kSpareReceives;
  granted_ = std::min(wanted, static_cast<std::uint32_t>(backed));
  return granted_;
}

void RdmaConnection::repost(Receive& receive) {
  --receives_in_use_;
  if (closing_) return;
  bool raised = false;
  if (!receives_->repost(*endpoint_, receive, raised)) disconnect("a receive could not be posted");
  if (raised) properties_.on_receives_raised();
}

std::size_t RdmaConnection::reply_threshold(std::uint32_t version) const {
  if (version == rdma::kVersionOne) return thresholds_.reply;
  // Before the first good reply, everything fits what any version takes (requirement F-18).
  return properties_.started() ? properties_.send_limit() : rdma::kDefaultThreshold;
}

bool RdmaConnection::remote_invalidation(std::uint32_t version) const {
  if (version == rdma::kVersionOne) return thresholds_.remote_invalidation;
  return core_.config.remote_invalidation && properties_.peer().requester_remote_invalidation != 0;
}

void RdmaConnection::note_reply(std::uint32_t version) {
  version_ = version;
  if (version == rdma::kVersionTwo && !properties_.started()) properties_.start();
}

void RdmaConnection::request_receive_size(std::uint32_t size) {
  if (properties_.started()) properties_.request_receive_size(size);
}

void RdmaConnection::raise_receive_size(std::uint32_t size) {
  const auto most = static_cast<std::uint32_t>(largest_receive(core_.config));
  if (properties_.started()) properties_.update_receive_size(std::min(size, most));
}

void RdmaConnection::send_optional(std::uint32_t xid, const rdma::RdmaOptional& optional) {
  RdmaCall* message = core_.acquire_call();
  if (!message) return disconnect("no memory for a property message");
  message->begin(*this, nullptr);
  calls_.push_back(*message);
  message->send_optional(xid, optional);
}

void RdmaConnection::note_writes_for(std::uint32_t xid) {
  recent_writes_[recent_writes_count_++ % kRecentWrites] = xid;
}

Result<void> RdmaConnection::call_back(const CallbackTarget& target,
                                       std::function<void(xdr::Encoder&)> encode,
                                       std::function<void(Result<xdr::Decoder>)> done) {
  if (closing_) return fail(Error::local(ENOTCONN, "callback", "the connection is closing"));
  const bool none = properties_.peer().backward_request_support == rdma::BKREQSUP_NONE;
  if (version_ != rdma::kVersionOne && none) {
    return fail(Error::local(EOPNOTSUPP, "callback", "the client takes none"));
  }
  return backward_.call(*endpoint_, version_, max_backward_message(), target, encode,
                        std::move(done));
}

std::size_t RdmaConnection::max_backward_message() const { return reply_threshold(version_); }

void RdmaConnection::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                                std::optional<std::uint32_t> /*invalidated*/) {
  auto& receive = static_cast<Receive&>(buffer);
  ++receives_in_use_;
  core_.counters.inline_received_bytes.add(length);
  RdmaCall* call = core_.acquire_call();
  if (!call) return disconnect("too many calls");
  call->begin(*this, &receive);
  calls_.push_back(*call);
  take_message(*call, receive.memory.first(length));
}

void RdmaConnection::take_message(RdmaCall& call, std::span<const std::byte> message) {
  xdr::Decoder in(message);
  auto& header = call.transport_header();
  const auto fault = rdma::decode_header(in, header, core_.config.versions);
  if (fault == rdma::HeaderFault::none) core_.counters.messages.received[header.proc].add();
  const bool version_one =
      header.rdma_vers == rdma::kVersionOne || !core_.config.versions.has(header.rdma_vers);
  const bool is_error = fault == rdma::HeaderFault::none && header.proc == rdma::RDMA_ERROR;
  if (is_error) return take_error(call);
  const bool is_withdrawn = fault == rdma::HeaderFault::withdrawn_proc;
  if (is_withdrawn && header.proc == rdma::RDMA_DONE && version_one) {
    core_.counters.dropped_done.add();
    return call.abandon();
  }
  const bool too_short = version_one && message.size() < rdma::kMinHeader;
  if (too_short || fault == rdma::HeaderFault::too_short) {
    core_.counters.dropped_short.add();
    return call.abandon();
  }
  if (fault == rdma::HeaderFault::none && header.proc == rdma::RDMA_OPTIONAL) {
    return take_option(call, in.remaining());
  }
  if (fault == rdma::HeaderFault::none) return take_stream(call, message.subspan(in.offset()));
  log::warning("connection {}: XID {:#x}: {}", id_, header.rdma_xid,
               rdma::header_fault_name(fault));
  if (header.proc == rdma::RDMA_ERROR) {
    core_.counters.dropped_error.add();
    return call.abandon();
  }
  if (fault == rdma::HeaderFault::version) return take_other_version(call);
  call.refuse(rdma::ERR_CHUNK);
}

void RdmaConnection::take_other_version(RdmaCall& call) {
  switch (core_.config.other_versions) {
    case OtherVersions::answer: return call.refuse(rdma::ERR_VERS);
    case OtherVersions::disconnect:
      call.abandon();
      return disconnect("a message of another version");
    case OtherVersions::ignore: return call.abandon();
  }
}

void RdmaConnection::take_option(RdmaCall& call, std::size_t payload) {
  const auto& header = call.transport_header();
  const auto opttype = header.optional.rdma_opttype;
  core_.counters.messages.options_received[rdma::is_property_operation(opttype) ? opttype : 0]
      .add();
  switch (properties_.on_optional(header.rdma_xid, header.optional, payload)) {
    case rdma::OptionAnswer::none: return call.abandon();
    case rdma::OptionAnswer::inval_option: return call.refuse(rdma::RDMA_ERR_INVAL_OPTION);
    case rdma::OptionAnswer::bad_header: return call.refuse(rdma::RDMA_ERR_BAD_HEADER);
  }
}

/// By transaction (requirement F-2): a callback or an option of ours, else it is dropped.
void RdmaConnection::take_error(RdmaCall& call) {
  const auto& header = call.transport_header();
  if (!properties_.on_error(header.rdma_xid, header.error.err) && !backward_.on_error(header)) {
    core_.counters.dropped_error.add();
  }
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
  properties_.on_later_message();
  call.accept(stream);
}

void RdmaConnection::on_send_done(void* context) { static_cast<SendOwner*>(context)->on_sent(); }

void RdmaConnection::on_read_done(void* context) {
  static_cast<RdmaCall*>(context)->on_read_done();
}

void RdmaConnection::blame_calls(const Error& reason) {
  if (!reason.is(Layer::fabric, static_cast<int>(net::Fault::remote_terminate)) &&
      !reason.is(Layer::fabric, static_cast<int>(net::Fault::remote_access))) {
    return;
  }
  std::vector<std::uint32_t> candidates;
  calls_.for_each([&](RdmaCall& call) {
    if (call.pulling()) candidates.push_back(call.xid());
  });
  const auto remembered = std::min(recent_writes_count_, kRecentWrites);
  candidates.insert(candidates.end(), recent_writes_.begin(), recent_writes_.begin() + remembered);
  for (const auto xid : candidates) {
    core_.failed_calls.note_loss(client_, xid, candidates.size() == 1);
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
