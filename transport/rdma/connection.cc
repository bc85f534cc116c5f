#include "transport/rdma/connection.h"

#include "transport/base/log.h"
#include "transport/rdma/fault.h"
#include "transport/rpc/message.h"

namespace nfsrdma::rdma {
namespace {

enum class Direction : std::uint8_t { call, reply, unknown };

/// XID and msg_type of an RPC message.
constexpr std::size_t kRpcPrefix = 8;

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
                       rpc::ChannelObserver& observer)
    : options_(options),
      pools_(pools),
      counters_(counters),
      observer_(observer),
      link_(reactor, options, *pools.receives, counters, *this),
      requester_(link_, pools),
      backward_(link_, pools, observer),
      report_down_(reactor, [this] { report_down(); }) {}

Result<void> Connection::connect(fabric::Fabric& fabric, const fabric::Address& server) {
  provider_ = fabric.name();
  announced_ = {.remote_invalidation =
                    options_.remote_invalidation && fabric.remote_invalidation_safe(server),
                .send_size = options_.send_size,
                .receive_size = options_.receive_size};
  const auto private_data = encode_private_data(announced_);
  fabric::EndpointOptions endpoint = options_.endpoint;
  endpoint.private_data = private_data;
  auto made = fabric.connect(server, *this, endpoint);
  if (!made) return fail_from(made);
  link_.attach(std::move(*made));
  return {};
}

void Connection::on_established(const fabric::ConnectionInfo& info) {
  if (link_.ending()) return;
  counters_.connections.add();
  Thresholds agreed = agree(announced_, decode_private_data(info.peer_private_data));
  // Linux knfsd uses what a client has announced and leaves its own R bit clear.
  agreed.remote_invalidation = announced_.remote_invalidation;
  link_.establish(agreed);
  limits_ = {.max_backward_call = agreed.reply - kMinHeader,
             .max_backward_reply = agreed.call - kMinHeader,
             .max_backward_calls = options_.backward_credits};
  log::info("connected: {}, inline {} to the server and {} from it, remote invalidation {}",
            info.description, agreed.call, agreed.reply, agreed.remote_invalidation ? "on" : "off");
  link_.cover(0);
  if (!link_.ending()) observer_.on_channel_up();
}

void Connection::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                            std::optional<std::uint32_t> invalidated) {
  Message& message = link_.take_message(buffer);
  rpc::MessageRef reference(&message);
  if (link_.ending()) return;
  dispatch(message.memory.first(length), std::move(reference), invalidated);
  // Whatever it was, it took a Receive that some other message may have been promised.
  if (!link_.ending()) link_.cover(requester_.credits().in_flight());
}

void Connection::dispatch(std::span<const std::byte> octets, rpc::MessageRef message,
                          std::optional<std::uint32_t> invalidated) {
  xdr::Decoder in(octets);
  const HeaderFault fault = decode_header(in, incoming_);
  if (invalidated && !requester_.is_open(incoming_.rdma_xid)) {
    link_.end(protocol_error("RPC-over-RDMA message", "invalidates a handle of no open call"));
  } else if (fault != HeaderFault::none) {
    on_header_fault(fault, octets);
  } else if (incoming_.proc == RDMA_ERROR) {
    on_error(invalidated);
  } else {
    dispatch_payload(octets.subspan(in.offset()), std::move(message), invalidated);
  }
}

void Connection::dispatch_payload(std::span<const std::byte> payload, rpc::MessageRef message,
                                  std::optional<std::uint32_t> invalidated) {
  switch (direction_of(incoming_, payload)) {
    case Direction::call:
      if (invalidated)
        return link_.end(protocol_error("callback", "a callback invalidates a handle"));
      return backward_.on_call(incoming_, payload, std::move(message));
    case Direction::reply: return on_reply(payload, std::move(message), invalidated);
    case Direction::unknown: return drop("neither call nor reply");
  }
}

void Connection::on_reply(std::span<const std::byte> payload, rpc::MessageRef message,
                          std::optional<std::uint32_t> invalidated) {
  if (!requester_.is_open(incoming_.rdma_xid)) {
    counters_.bad_xids.add();
    log::debug("dropped a reply with XID {:#x}, which nobody waits for", incoming_.rdma_xid);
    return;
  }
  if (incoming_.proc == RDMA_NOMSG) payload = {};
  if (incoming_.proc == RDMA_MSG && rpc_xid(payload) != incoming_.rdma_xid) {
    return drop("XIDs of header and RPC message differ");
  }
  requester_.on_reply(incoming_, payload, std::move(message), invalidated);
}

void Connection::on_error(std::optional<std::uint32_t> invalidated) {
  if (requester_.is_open(incoming_.rdma_xid)) {
    requester_.on_error(incoming_, invalidated);
  } else {
    counters_.bad_xids.add();
    log::debug("dropped an RDMA_ERROR with XID {:#x}, which nobody waits for", incoming_.rdma_xid);
  }
}

void Connection::on_header_fault(HeaderFault fault, std::span<const std::byte> octets) {
  if (octets.size() < kFixedWords || incoming_.proc == RDMA_DONE) {
    counters_.bad_messages.add();
    return;
  }
  if (fault == HeaderFault::version && !requester_.is_open(incoming_.rdma_xid)) {
    // Another version keeps the fixed words; whether this is a Call can be told if it keeps the
    // lists, too. Only a Call is answered.
    xdr::Decoder in(octets.subspan(kFixedWords));
    decode_chunk_lists(in, incoming_.chunks);
    const auto payload = octets.subspan(kFixedWords + in.offset());
    if (in.ok() && direction_of(incoming_, payload) == Direction::call) {
      return backward_.refuse_version(incoming_);
    }
  }
  drop(header_fault_name(fault));
}

void Connection::drop(const char* what) {
  counters_.bad_messages.add();
  if (requester_.is_open(incoming_.rdma_xid)) {
    requester_.on_malformed(incoming_.rdma_xid, what);
  } else {
    log::debug("dropped a message with XID {:#x}: {}", incoming_.rdma_xid, what);
  }
}

void Connection::on_send_done(void* context) { static_cast<SendOwner*>(context)->on_send_done(); }

void Connection::on_settled(fabric::Lease& lease) { requester_.on_settled(lease); }

void Connection::on_link_ending(const Error& reason) { observer_.on_channel_closing(reason); }

void Connection::on_disconnected(const Error& reason) {
  link_.down(reason);
  backward_.on_down();
  requester_.on_down();
  report_down_.schedule();
}

void Connection::report_down() {
  requester_.flush_failed();
  observer_.on_channel_down(link_.reason());
}

void Connection::visit_counters(CounterVisitor& visitor) const {
  counters_.visit(visitor);
  visitor.visit("calls_open", requester_.open_calls());
  visitor.visit("calls_in_flight", requester_.credits().in_flight());
  visitor.visit("credit_limit", requester_.credits().limit());
  visitor.visit("call_contexts_in_use", pools_.contexts->in_use());
  visitor.visit("receives_posted", link_.posted());
  visitor.visit("messages_held", pools_.receives->in_state(Message::State::held));
  visitor.visit("callbacks_open", backward_.open_calls());
  PrefixedVisitor of_provider(provider_, visitor);
  link_.visit_provider(of_provider);
}

}  // namespace nfsrdma::rdma
