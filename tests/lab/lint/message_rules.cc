#include "tests/lab/lint/message_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/lint/returned_chunks.h"

namespace nfsrdma::lab {
namespace {

using Seen = std::optional<std::string>;
using rdma::HeaderFault;

const rdma::Header& header_of(const MessageEvent& event) { return *event.seen.header; }
bool decoded(const MessageEvent& event) { return event.seen.fault == HeaderFault::none; }

// Any message.

Seen too_short(const MessageEvent& event) {
  if (event.seen.fault != HeaderFault::too_short) return {};
  return fmt::format("{} bytes", event.seen.size);
}

Seen undefined_version(const MessageEvent& event) {
  if (event.seen.fault != HeaderFault::version) return {};
  return fmt::format("version {}", header_of(event).rdma_vers);
}

Seen undefined_proc(const MessageEvent& event) {
  if (event.seen.fault != HeaderFault::undefined_proc) return {};
  return fmt::format("rdma_proc {}", static_cast<std::uint32_t>(header_of(event).proc));
}

Seen withdrawn_proc(const MessageEvent& event) {
  if (event.seen.fault != HeaderFault::withdrawn_proc) return {};
  return header_of(event).proc == rdma::RDMA_MSGP ? "RDMA_MSGP" : "RDMA_DONE";
}

Seen malformed(const MessageEvent& event) {
  if (event.seen.fault != HeaderFault::malformed) return {};
  return event.seen.fault_text;
}

Seen above_threshold(const MessageEvent& event) {
  const auto& [seen, conversation] = event;
  const rdma::Thresholds thresholds = conversation.thresholds();
  const std::size_t bound = seen.source.from == Side::client ? thresholds.call : thresholds.reply;
  // A message of version 2 may be the first that says so.
  const std::size_t least =
      decoded(event) && header_of(event).rdma_vers == rdma::kVersionTwo ? 4096 : 0;
  if (seen.size <= std::max(bound, least)) return {};
  return fmt::format("{} bytes, the inline threshold is {}", seen.size, bound);
}

Seen no_rpc_message(const MessageEvent& event) {
  if (!decoded(event) || header_of(event).proc != rdma::RDMA_MSG) return {};
  if (event.seen.direction != Direction::none) return {};
  return fmt::format("{} bytes behind the header, which are neither a call nor a reply",
                     event.seen.payload.size());
}

Seen other_xid(const MessageEvent& event) {
  const auto& rpc_xid = event.seen.rpc_xid;
  if (!decoded(event) || !rpc_xid || *rpc_xid == header_of(event).rdma_xid) return {};
  return fmt::format("rdma_xid {:#010x}, XID of the RPC message {:#010x}",
                     header_of(event).rdma_xid, *rpc_xid);
}

// Calls.

Seen asks_for_no_credit(const MessageEvent& event) {
  if (header_of(event).rdma_credit != 0) return {};
  return "rdma_credit 0";
}

Seen too_many_calls(const MessageEvent& event) {
  const auto& [seen, conversation] = event;
  const SideState& caller = conversation.side(seen.source.from);
  const std::uint32_t granted = conversation.side(other(seen.source.from)).granted;
  const std::uint32_t allowed = std::min(granted, std::max(header_of(event).rdma_credit, 1u));
  if (seen.xid_open || caller.open < allowed) return {};
  return fmt::format("{} calls are open already, asked for are {} and granted {}", caller.open,
                     header_of(event).rdma_credit, granted);
}

Seen xid_in_use(const MessageEvent& event) {
  if (!event.seen.xid_open) return {};
  return fmt::format("XID {:#010x} is that of an open call", header_of(event).rdma_xid);
}

Seen invalidating_call(const MessageEvent& event) {
  if (!event.seen.invalidated) return {};
  return fmt::format("a call invalidates handle {:#010x}", *event.seen.invalidated);
}

Seen long_call_without_chunk(const MessageEvent& event) {
  const rdma::Header& header = header_of(event);
  if (header.proc != rdma::RDMA_NOMSG || event.seen.payload.empty()) return {};
  return fmt::format("RDMA_NOMSG with {} bytes behind the header", event.seen.payload.size());
}

// Replies.

Seen zero_grant(const MessageEvent& event) {
  if (header_of(event).rdma_credit != 0) return {};
  return "a grant of 0 credits";
}

Seen no_such_call(const MessageEvent& event) {
  if (event.seen.call != nullptr || event.seen.answered) return {};
  return fmt::format("XID {:#010x}, with which no call is open", header_of(event).rdma_xid);
}

Seen answered_twice(const MessageEvent& event) {
  if (event.seen.call != nullptr || !event.seen.answered) return {};
  return fmt::format("a second reply with XID {:#010x}", header_of(event).rdma_xid);
}

Seen read_list_in_reply(const MessageEvent& event) {
  const rdma::Header& header = header_of(event);
  if (header.proc == rdma::RDMA_ERROR || header.chunks.read_count == 0) return {};
  return fmt::format("a Read list with {} segments", header.chunks.read_count);
}

Seen other_version(const MessageEvent& event) {
  const RpcCall* call = event.seen.call;
  const rdma::Header& header = header_of(event);
  if (call == nullptr || header.proc == rdma::RDMA_ERROR || header.rdma_vers == call->version) {
    return {};
  }
  return fmt::format("version {} answered with {}", call->version, header.rdma_vers);
}

Seen no_version_error(const MessageEvent& event) {
  const RpcCall* call = event.seen.call;
  const rdma::Header& header = header_of(event);
  if (call == nullptr || header.proc != rdma::RDMA_ERROR || header.error.err != rdma::ERR_VERS) {
    return {};
  }
  const rdma::VersionRange range{header.error.rdma_vers_low, header.error.rdma_vers_high};
  if (!range.has(call->version)) return {};
  return fmt::format("ERR_VERS with {} to {}, for a call of version {}", range.low, range.high,
                     call->version);
}

Seen invalidates_without_leave(const MessageEvent& event) {
  const auto& [seen, conversation] = event;
  const SideState& receiver = conversation.side(other(seen.source.from));
  if (!seen.invalidated || receiver.wants_invalidation) return {};
  if (conversation.thresholds().remote_invalidation) return {};
  return fmt::format("handle {:#010x} is invalidated, and not both sides have set R",
                     *seen.invalidated);
}

Seen invalidates_of_another_call(const MessageEvent& event) {
  const auto& seen = event.seen;
  if (!seen.invalidated || seen.call == nullptr) return {};
  const auto& offers = seen.call->offers;
  const bool own = std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
    return offer.has_handle(*seen.invalidated);
  });
  if (own) return {};
  return fmt::format("handle {:#010x} is invalidated, which this call has not offered",
                     *seen.invalidated);
}

Seen long_reply_without_chunk(const MessageEvent& event) {
  const rdma::Header& header = header_of(event);
  if (header.proc != rdma::RDMA_NOMSG || header.chunks.has_reply) return {};
  return "RDMA_NOMSG without a Reply chunk";
}

constexpr Rule<MessageEvent> kMessageRules[] = {
    {"RFC 8166 section 4.5 (V1-4.5-2)", "A message is as long as its kind at least.", false,
     too_short},
    {"RFC 8166 section 4.2.2 (V1-4.2.2-1)", "The version is one that is defined.", false,
     undefined_version},
    {"RFC 8166 section 4.2.4 (V1-4.2.4-1)", "rdma_proc is one that is defined.", false,
     undefined_proc},
    {"RFC 8166 section 4.6 (V1-4.6.1-1, V1-4.6.2-1)", "RDMA_MSGP and RDMA_DONE are never sent.",
     false, withdrawn_proc},
    {"RFC 8166 section 4.7 (V1-4-1, V1-3.4.5-3)", "Header and chunk lists are well-formed XDR.",
     false, malformed},
    {"RFC 8166 section 3.3.2 (V1-4.2.4-7, E-8797-3)",
     "A message is not larger than the inline threshold.", true, above_threshold},
    {"RFC 8166 section 3.2 (V1-3.2-1, V2-4.2-5)", "RDMA_MSG is followed by an RPC message.", false,
     no_rpc_message},
    {"RFC 8166 section 4.2.1 (V1-4.2.1-1)", "rdma_xid is the XID of the RPC message.", false,
     other_xid},
};

constexpr Rule<MessageEvent> kCallRules[] = {
    {"RFC 8166 section 3.3.1 (V1-3.3.1-2)", "Each call asks for credits.", false,
     asks_for_no_credit},
    {"RFC 8166 section 3.3.1 (V1-3.3.1-4, V1-3.3.3-1)",
     "No more calls are open than were granted; on a new connection one.", true, too_many_calls},
    {"RFC 5531 section 9", "An XID is not used for two open calls of one connection.", true,
     xid_in_use},
    {"RFC 8797 section 4.1 (E-8797-5)", "Only replies invalidate handles.", false,
     invalidating_call},
    {"RFC 8166 section 4.2.4 (V1-4.2.4-3)", "Nothing follows the header of RDMA_NOMSG.", false,
     long_call_without_chunk},
};

constexpr Rule<MessageEvent> kReplyRules[] = {
    {"RFC 8166 section 3.3.1 (V1-3.3.1-5)", "A grant of zero is never sent.", false, zero_grant},
    {"RFC 5531 section 9 (V1-2.2.2-1)", "A reply has the XID of a call.", true, no_such_call},
    {"RFC 5531 section 9 (V1-2.2.2-2)", "A call is answered once.", true, answered_twice},
    {"RFC 8166 section 4.3.1 (V1-4.3.1-3)", "A reply has no Read list.", false, read_list_in_reply},
    {"RFC 8167 section 5.2 (E-8167-5, V2-5.3-1)", "A reply has the version of its call.", false,
     other_version},
    {"RFC 8166 section 4.5.1 (V1-4.5.1-1)",
     "ERR_VERS is for versions outside of the range that it tells.", false, no_version_error},
    {"RFC 8797 section 4.1 (E-8797-6, XP-3.2-1)",
     "Handles are invalidated only if both sides have set R.", true, invalidates_without_leave},
    {"RFC 8797 section 4.1 (E-8797-5)", "A reply invalidates a handle of its own call.", true,
     invalidates_of_another_call},
    {"RFC 8166 section 4.2.4 (V1-4.2.4-3)", "RDMA_NOMSG has a chunk with the message.", false,
     long_reply_without_chunk},
};

constexpr Rule<MessageEvent> kReturnedChunkRules[] = {
    {"RFC 8166 section 4.3.2 (V1-4.3.2-13)", "A reply returns each Write chunk of its call.", true,
     missing_write_chunks},
    {"RFC 8166 section 3.4.6 (V1-3.4.6-4)", "A returned chunk has the segments of the call's.",
     true, changed_segments},
    {"RFC 8166 section 3.4.6 (V1-3.4.6-5)", "A returned length is not above what was offered.",
     true, longer_than_offered},
    {"RFC 8166 section 3.4.6 (V1-3.4.6-5)", "Returned lengths are those that were written.", true,
     other_than_written},
    {"RFC 8166 section 3.4.6 (V1-3.4.6-3)", "Segments are filled one after the other.", true,
     holes_between_segments},
    {"RFC 8166 section 4.3.3 (V1-4.3.3-3)",
     "A Reply chunk is returned where the call has one, and only there.", true,
     reply_chunk_not_returned},
};

}  // namespace

std::span<const Rule<MessageEvent>> message_rules() { return kMessageRules; }
std::span<const Rule<MessageEvent>> call_rules() { return kCallRules; }
std::span<const Rule<MessageEvent>> reply_rules() { return kReplyRules; }
std::span<const Rule<MessageEvent>> returned_chunk_rules() { return kReturnedChunkRules; }

}  // namespace nfsrdma::lab
