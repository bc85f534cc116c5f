#include "transport/rdma/connection.h"

#include <algorithm>

#include "transport/base/log.h"
#include "transport/rdma/fault.h"
#include "transport/rpc/message.h"

namespace nfsrdma::rdma {
namespace {

enum class Direction : std::uint8_t { call, reply, unknown };

/// XID and msg_type of an RPC message.
constexpr std::size_t kRpcPrefix = 8;

/// Where the XIDs of RDMA_OPTIONAL begin; they have a space of their own (XP-4.2-1).
constexpr std::uint32_t kFirstOptionalXid = 0x4f500000;

std::uint32_t rpc_xid(std::span<const std::byte> payload) {
  return xdr::Decoder(payload).u32("xid");
}

/// A Call and a Reply with equal XIDs are two transactions (BD-2): msg_type decides, and for a Long
/// Message, whose RPC header is elsewhere, the chunk that only a Call or only a Reply can have.
Direction direction_of(const Header& header, std::span<const std::byte> payload) {
  if (header.proc == RDMA_NOMSG) {
    if (header.chunks.read_chunk_length(0)) return Direction::call;
    return header.chunks.has_reply ? Direction::reply : Direction::unknown;
  }
  if (payload.size() < kRpcPrefix) return Direction::unknown;
  switch (static_cast<rpc::MessageType>(xdr::Decoder(payload.subspan(4)).u32("msg_type"))) {
    case rpc::MessageType::call: return Direction::call;
    case rpc::MessageType::reply: return Direction::reply;
  }
  return Direction::unknown;
}

}  // namespace

Connection::Connection(Reactor& reactor, const Options& options, Pools& pools, Counters& counters,
                       ServerVersion& server, rpc::ChannelObserver& observer)
    : options_(options),
      pools_(pools),
      counters_(counters),
      observer_(observer),
      link_(reactor, options, *pools.receives, counters, *this),
      requester_(link_, pools),
      backward_(link_, pools, observer),
      control_(link_, pools.control.get()),
      probe_(reactor, options, pools, server,
             [this](const ProbeOutcome& outcome) { on_probed(outcome); }),
      last_optional_xid_(kFirstOptionalXid),
      report_down_(reactor, [this] { report_down(); }) {}

Result<void> Connection::connect(fabric::Fabric& fabric, const net::Address& server) {
  provider_ = fabric.name();
  const bool remote_invalidation =
      options_.remote_invalidation && fabric.remote_invalidation_safe(server);
  std::array<std::byte, kPrivateDataSize> private_data;
  fabric::EndpointOptions endpoint = options_.endpoint;
  if (options_.version != VersionChoice::one) prepare_version_two(remote_invalidation);
  if (options_.version != VersionChoice::two) {  // private data is version 1's (requirement F-13)
    announced_ = {.remote_invalidation = remote_invalidation,
                  .send_size = options_.send_size,
                  .receive_size = options_.receive_size};
    private_data = encode_private_data(announced_);
    endpoint.private_data = private_data;
  }
  auto made = fabric.connect(server, *this, endpoint);
  if (!made) return fail_from(made);
  link_.attach(std::move(*made));
  return {};
}

void Connection::on_established(const fabric::ConnectionInfo& info) {
  if (link_.ending()) return;
  counters_.connections.add();
  counters_.connection_lines.info(link_.reactor().now(), "connected: {}", info.description);
  of_private_data_ = agree(announced_, decode_private_data(info.peer_private_data));
  // Linux knfsd uses what a client has announced and leaves its own R bit clear.
  of_private_data_.remote_invalidation = announced_.remote_invalidation;
  const std::uint32_t version = probe_.first_version();
  link_.establish(version, version == kVersionOne ? of_private_data_ : Thresholds{});
  link_.cover(0);
  if (link_.ending()) return;
  if (version == kVersionOne) return go_up(version);
  auto asked = probe_.start(requester_);
  if (!asked) link_.end(std::move(asked.error()));
}

void Connection::on_probed(const ProbeOutcome& outcome) {
  if (outcome.version == 0) return link_.end(*outcome.error);
  go_up(outcome.version);
}

void Connection::go_up(std::uint32_t version) {
  link_.establish(version, of_private_data_);
  if (version != kVersionOne) on_properties_changed();
  const Thresholds& agreed = link_.thresholds();
  limits_ = {.max_backward_call = agreed.reply - kMinHeader,
             .max_backward_reply = std::min(agreed.call, kMaxBackwardReply) - kMinHeader,
             .max_backward_calls = options_.backward_credits};
  counters_.version_lines.info(
      link_.reactor().now(),
      "version {}, inline {} to the server and {} from it, remote invalidation {}", version,
      agreed.call, agreed.reply, agreed.remote_invalidation ? "on" : "off");
  if (version != kVersionOne) start_properties();
  if (!link_.ending()) observer_.on_channel_up();
}

void Connection::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                            std::optional<std::uint32_t> invalidated) {
  Message& message = link_.take_message(buffer);
  rpc::MessageRef reference(&message);
  if (link_.ending()) return;
  dispatch(message.memory.first(length), std::move(reference), invalidated);
  // The message has used up a Receive, which the grant may have promised to another one.
  if (!link_.ending()) link_.cover(requester_.credits().in_flight());
}

void Connection::dispatch(std::span<const std::byte> bytes, rpc::MessageRef message,
                          std::optional<std::uint32_t> invalidated) {
  xdr::Decoder in(bytes);
  const HeaderFault fault = decode_header(in, incoming_, {link_.version(), link_.version()});
  if (fault == HeaderFault::none) counters_.messages.received[incoming_.proc].add();
  CallContext* const call = call_named_by(bytes);
  if (invalidated && !call) {
    link_.end(protocol_error("RPC-over-RDMA message", "invalidates a handle of no open call"));
  } else if (fault != HeaderFault::none) {
    on_header_fault(call, fault, bytes);
  } else if (incoming_.proc == RDMA_ERROR) {
    on_error(call, invalidated);
  } else if (incoming_.proc == RDMA_OPTIONAL) {
    if (invalidated) {
      return link_.end(protocol_error("RDMA_OPTIONAL", "an option invalidates a handle"));
    }
    on_optional(in.remaining());
  } else {
    dispatch_payload(call, bytes.subspan(in.offset()), std::move(message), invalidated);
  }
}

/// Also of a message that is too short for a header: a Call whose answer is lost with it would wait
/// for ever (requirement F-9).
CallContext* Connection::call_named_by(std::span<const std::byte> bytes) {
  if (bytes.size() < xdr::kUnit) return nullptr;
  return requester_.find(rpc_xid(bytes));
}

void Connection::dispatch_payload(CallContext* call, std::span<const std::byte> payload,
                                  rpc::MessageRef message,
                                  std::optional<std::uint32_t> invalidated) {
  switch (direction_of(incoming_, payload)) {
    case Direction::call:
      if (invalidated)
        return link_.end(protocol_error("callback", "a callback invalidates a handle"));
      if (properties_) properties_->infer_backward_support(!incoming_.chunks.all_absent());
      return backward_.on_call(incoming_, payload, std::move(message));
    case Direction::reply: return on_reply(call, payload, std::move(message), invalidated);
    case Direction::unknown: return drop(call, "neither call nor reply");
  }
}

void Connection::on_reply(CallContext* call, std::span<const std::byte> payload,
                          rpc::MessageRef message, std::optional<std::uint32_t> invalidated) {
  if (!call) {
    counters_.bad_xids.add();
    log::debug("dropped a reply with XID {:#x}, which no call waits for", incoming_.rdma_xid);
    return;
  }
  if (incoming_.proc == RDMA_NOMSG) payload = {};
  if (incoming_.proc == RDMA_MSG && rpc_xid(payload) != incoming_.rdma_xid) {
    return drop(call, "XIDs of header and RPC message differ");
  }
  requester_.credits().give_back_optional();
  requester_.on_reply(*call, incoming_, payload, std::move(message), invalidated);
  if (properties_ && !link_.ending()) properties_->on_later_message();
}

/// An error ends the transaction that it names and nothing else (requirement F-2): an option if it
/// can only be one, else a Call, else an option.
void Connection::on_error(CallContext* call, std::optional<std::uint32_t> invalidated) {
  const std::uint32_t xid = incoming_.rdma_xid;
  const rpc_rdma_errcode code = incoming_.error.err;
  if (code != RDMA_ERR_INVAL_OPTION && call) {
    if (probe_.running() && xid == VersionProbe::kXid) probe_.on_error(incoming_);
    requester_.on_error(*call, incoming_, invalidated);
  } else if (!properties_ || code == ERR_VERS || !properties_->on_error(xid, code)) {
    counters_.bad_xids.add();
    log::debug("dropped an RDMA_ERROR with XID {:#x}, which no call waits for", incoming_.rdma_xid);
  }
}

void Connection::on_header_fault(CallContext* call, HeaderFault fault,
                                 std::span<const std::byte> bytes) {
  if (bytes.size() < kFixedWords) return drop(call, header_fault_name(fault));
  // Only an option that can be answered is (requirement F-3).
  const bool is_option = fault != HeaderFault::version && incoming_.proc == RDMA_OPTIONAL &&
                         link_.version() != kVersionOne;
  // RDMA_DONE is dropped whatever XID it has: it would be about a Call of the server's, and those
  // have XIDs of their own (V1-4.6.2-2, BD-2).
  if (incoming_.proc == RDMA_DONE || is_option) {
    counters_.bad_messages.add();
    if (call && incoming_.proc == RDMA_DONE) {
      // A server that takes it for an answer leaves the Call waiting.
      counters_.done_lines.warning(link_.reactor().now(),
                                   "dropped an RDMA_DONE with the XID {:#x} of an open call",
                                   incoming_.rdma_xid);
    }
    if (is_option && fault == HeaderFault::malformed) refuse_option(RDMA_ERR_BAD_HEADER);
    return;
  }
  if (fault == HeaderFault::version && !call) {
    // Another version keeps the fixed words; whether this is a Call can be told if it keeps the
    // lists, too. Only a Call is answered.
    xdr::Decoder in(bytes.subspan(kFixedWords));
    decode_chunk_lists(in, incoming_.chunks);
    const auto payload = bytes.subspan(kFixedWords + in.offset());
    if (in.ok() && direction_of(incoming_, payload) == Direction::call) {
      return backward_.refuse_version(incoming_);
    }
  }
  drop(call, header_fault_name(fault));
}

void Connection::drop(CallContext* call, const char* what) {
  counters_.bad_messages.add();
  if (call) {
    requester_.on_malformed(*call, what);
  } else {
    log::debug("dropped a message of no open call: {}", what);
  }
}

void Connection::on_send_done(void* context) { static_cast<SendOwner*>(context)->on_send_done(); }

void Connection::on_invalidated(fabric::Lease& lease) { requester_.on_invalidated(lease); }

void Connection::on_link_ending(const Error& reason) { observer_.on_channel_closing(reason); }

void Connection::on_disconnected(const Error& reason) {
  Error known = reason;
  probe_.on_down(known);
  link_.down(known);
  control_.on_down();
  backward_.on_down();
  requester_.on_down();
  report_down_.schedule();
}

void Connection::report_down() {
  requester_.tell_failed();
  observer_.on_channel_down(link_.reason());
}

}  // namespace nfsrdma::rdma
