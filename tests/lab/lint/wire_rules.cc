#include "tests/lab/lint/wire_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/fabric/iwarp/mpa_negotiation.h"

namespace nfsrdma::lab {
namespace {

using Seen = std::optional<std::string>;

// Startup frames.

Seen undefined_revision(const StartupEvent& event) {
  const int revision = event.frame.revision;
  if (revision == iwarp::kMpaRevision1 || revision == iwarp::kMpaRevision2) return {};
  return fmt::format("revision {}", revision);
}

Seen raised_revision(const StartupEvent& event) {
  const auto& request = event.conversation.side(Side::client).startup;
  if (event.source.from == Side::client || !request || event.frame.reject) return {};
  if (event.frame.revision <= request->revision) return {};
  return fmt::format("revision {} was asked for, {} answered", request->revision,
                     event.frame.revision);
}

Seen rejecting_request(const StartupEvent& event) {
  if (event.source.from == Side::server || !event.frame.reject) return {};
  return "a Request frame with the R bit";
}

Seen unanswered_mode(const StartupEvent& event) {
  const auto& request = event.conversation.side(Side::client).startup;
  if (event.source.from == Side::client || !request || !event.frame.enhanced) return {};
  if (request->enhanced) return {};
  return "an enhanced Reply frame to a Request frame that is not";
}

// DDP segments.

iwarp::Opcode opcode_of(const SegmentEvent& event) {
  return iwarp::rdmap_opcode(event.seen.header.rdmap_control);
}

Seen wrong_crc(const SegmentEvent& event) {
  if (!event.seen.crc_wrong) return {};
  return fmt::format("{} with {} bytes", iwarp::opcode_name(opcode_of(event)), event.seen.length);
}

Seen wrong_ddp_version(const SegmentEvent& event) {
  if (event.seen.header.version == iwarp::kDdpVersion) return {};
  return fmt::format("version {}", event.seen.header.version);
}

Seen wrong_rdmap_version(const SegmentEvent& event) {
  const int version = iwarp::rdmap_version(event.seen.header.rdmap_control);
  if (version == iwarp::kRdmapVersion) return {};
  return fmt::format("version {}", version);
}

Seen undefined_opcode(const SegmentEvent& event) {
  if (iwarp::is_known(opcode_of(event))) return {};
  return fmt::format("opcode {}", static_cast<int>(opcode_of(event)));
}

Seen wrong_buffer_model(const SegmentEvent& event) {
  const iwarp::Opcode opcode = opcode_of(event);
  const bool tagged = opcode == iwarp::Opcode::rdma_write || opcode == iwarp::Opcode::read_response;
  if (!iwarp::is_known(opcode) || tagged == event.seen.header.tagged) return {};
  return fmt::format("{} in {} segment", iwarp::opcode_name(opcode),
                     event.seen.header.tagged ? "a tagged" : "an untagged");
}

Seen wrong_queue(const SegmentEvent& event) {
  const iwarp::Opcode opcode = opcode_of(event);
  const auto& header = event.seen.header;
  if (header.tagged || !iwarp::is_known(opcode)) return {};
  std::uint32_t wanted = iwarp::kSendQueueNumber;
  if (opcode == iwarp::Opcode::read_request) wanted = iwarp::kReadRequestQueueNumber;
  if (opcode == iwarp::Opcode::terminate) wanted = iwarp::kTerminateQueueNumber;
  if (header.qn == wanted) return {};
  return fmt::format("{} to queue {}", iwarp::opcode_name(opcode), header.qn);
}

Seen wrong_msn(const SegmentEvent& event) {
  const auto& [seen, conversation] = event;
  if (seen.header.tagged || !seen.expected_msn || seen.header.msn == *seen.expected_msn) return {};
  return fmt::format("MSN {} on queue {}, where {} comes next", seen.header.msn, seen.header.qn,
                     *seen.expected_msn);
}

Seen wrong_offset(const SegmentEvent& event) {
  const auto& seen = event.seen;
  if (seen.header.tagged || !seen.expected_mo || seen.header.mo == *seen.expected_mo) return {};
  return fmt::format("MO {} where {} comes next", seen.header.mo, *seen.expected_mo);
}

Seen after_terminate(const SegmentEvent& event) {
  if (!event.seen.ends_stream) return {};
  return fmt::format("{} behind a Terminate", iwarp::opcode_name(opcode_of(event)));
}

Seen responder_first(const SegmentEvent& event) {
  const bool first =
      event.seen.source.from == Side::server && !event.conversation.side(Side::client).has_sent;
  if (!first) return {};
  return fmt::format("{} before the client has sent anything",
                     iwarp::opcode_name(opcode_of(event)));
}

// Transfers.

const char* name_of(TransferSeen::Kind kind) {
  switch (kind) {
    case TransferSeen::Kind::write: return "RDMA Write";
    case TransferSeen::Kind::read_request: return "RDMA Read";
    case TransferSeen::Kind::read_response: return "Read Response";
  }
  return "transfer";
}

std::string text_of(const TransferSeen& seen) {
  return fmt::format("{} of {} bytes at handle {:#010x}, offset {:#x}", name_of(seen.kind),
                     seen.length, seen.place.handle, seen.place.offset);
}

/// Responses are judged by their requests. Nothing is touched by a transfer of no bytes, which
/// RFC 6581 has as a signal.
bool touches_memory(const TransferSeen& seen) {
  return seen.kind != TransferSeen::Kind::read_response && seen.length != 0;
}

Seen never_offered(const TransferEvent& event) {
  const TransferSeen& seen = event.seen;
  if (!touches_memory(seen) || seen.handle != nullptr || seen.ended_xid) return {};
  return text_of(seen) + ", which no open call has offered";
}

Seen after_reply(const TransferEvent& event) {
  const TransferSeen& seen = event.seen;
  if (!touches_memory(seen) || !seen.ended_xid) return {};
  return fmt::format("{}, which the answered call with XID {:#010x} had offered", text_of(seen),
                     *seen.ended_xid);
}

Seen out_of_bounds(const TransferEvent& event) {
  const TransferSeen& seen = event.seen;
  if (!touches_memory(seen) || seen.handle == nullptr || seen.offer != nullptr) return {};
  const auto& segment = seen.handle->segment();
  return fmt::format("{}; offered are {} bytes at {:#x}", text_of(seen), segment.length,
                     segment.offset);
}

Seen wrong_access(const TransferEvent& event) {
  const TransferSeen& seen = event.seen;
  if (!touches_memory(seen) || seen.offer == nullptr) return {};
  const bool writes = seen.kind == TransferSeen::Kind::write;
  if (writes == seen.offer->writable()) return {};
  return fmt::format("{}, which is {}", text_of(seen),
                     writes ? "in a Read chunk" : "in a Write or Reply chunk");
}

Seen stray_response(const TransferEvent& event) {
  if (event.seen.asked_for) return {};
  return text_of(event.seen) + ", which fits no Read Request";
}

/// What both sides have agreed on in their enhanced frames.
Seen too_many_reads(const TransferEvent& event) {
  const TransferSeen& seen = event.seen;
  if (seen.kind != TransferSeen::Kind::read_request) return {};
  const SideState& reader = event.conversation.side(seen.source.from);
  const SideState& owner = event.conversation.side(other(seen.source.from));
  if (!owner.startup || !owner.startup->enhanced) return {};
  const std::uint32_t ird = owner.startup->enhanced->ird;
  if (ird == iwarp::EnhancedWords::kNotNegotiated || reader.open_reads < ird) return {};
  return fmt::format("the RDMA Read number {}, the other side takes {}", reader.open_reads + 1,
                     ird);
}

constexpr Rule<StartupEvent> kStartupRules[] = {
    {"RFC 6581 section 4", "The MPA revision is 1 or 2.", false, undefined_revision},
    {"RFC 6581 section 4.2", "The reply's MPA revision is not above the request's.", true,
     raised_revision},
    {"RFC 5044 section 7.1.1", "The R bit is zero in a Request frame.", false, rejecting_request},
    {"RFC 6581 section 4.2", "A Reply frame is enhanced only if the Request frame was.", true,
     unanswered_mode},
};

constexpr Rule<SegmentEvent> kSegmentRules[] = {
    {"RFC 5044 section 4.4", "The CRC of an FPDU is that of its bytes.", false, wrong_crc},
    {"RFC 5041 section 4.2", "DDP has version 1.", false, wrong_ddp_version},
    {"RFC 5040 section 4.1", "RDMAP has version 1.", false, wrong_rdmap_version},
    {"RFC 5040 section 4.1", "The RDMAP opcode is one that is defined.", false, undefined_opcode},
    {"RFC 5040 section 4.1",
     "RDMA Writes and Read Responses are tagged, all other messages untagged.", false,
     wrong_buffer_model},
    {"RFC 5040 section 4.1",
     "Sends go to queue 0, Read Requests to queue 1, Terminates to queue 2.", false, wrong_queue},
    {"RFC 5041 section 5.3", "MSNs of a queue go up by one.", true, wrong_msn},
    {"RFC 5041 section 4.3", "The MO is where the segment before it has ended.", true,
     wrong_offset},
    {"RFC 5040 section 4.8", "Nothing follows a Terminate.", true, after_terminate},
    {"RFC 5044 section 7.1.2", "The responder sends no FPDU before the initiator's first.", true,
     responder_first},
};

constexpr Rule<TransferEvent> kTransferRules[] = {
    {"RFC 8166 section 3.4.3", "Memory is touched only where a call has offered it.", true,
     never_offered},
    {"RFC 8166 section 4.4.1", "Memory of a call is not touched once the call is answered.", true,
     after_reply},
    {"RFC 8166 section 4.5.3", "A transfer stays within the segment that was offered.", true,
     out_of_bounds},
    {"RFC 8166 section 3.4", "Read chunks are read, Write and Reply chunks are written.", true,
     wrong_access},
    {"RFC 5040 section 5.2", "A Read Response answers a Read Request, and fits it.", true,
     stray_response},
    {"RFC 6581 section 9", "No more RDMA Reads are open than the other side's IRD.", true,
     too_many_reads},
};

}  // namespace

std::span<const Rule<StartupEvent>> startup_rules() { return kStartupRules; }
std::span<const Rule<SegmentEvent>> segment_rules() { return kSegmentRules; }
std::span<const Rule<TransferEvent>> transfer_rules() { return kTransferRules; }

}  // namespace nfsrdma::lab
