// Rules of sessions (RFC 8881 sections 2.10 and 18.35 to 18.46).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/lab/lint/sessions.h"

namespace nfsrdma::lab {
namespace {

using Seen = std::optional<std::string>;
using nfs4::CREATE_SESSION4_FLAG_CONN_RDMA;

constexpr std::array<std::uint32_t, 5> kWithoutSequence = {
    nfs4::OP_EXCHANGE_ID, nfs4::OP_CREATE_SESSION, nfs4::OP_DESTROY_SESSION,
    nfs4::OP_BIND_CONN_TO_SESSION, nfs4::OP_DESTROY_CLIENTID};

/// A call with a session's minor version, or nothing.
const CompoundArguments* call_of(const SessionEvent& event) {
  const auto& arguments = event.rpc.arguments;
  if (!arguments || arguments->minor_version == 0 || arguments->operations.empty()) return nullptr;
  return &*arguments;
}

const nfs4::SEQUENCE4args* sequence_of(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  return call != nullptr && call->sequence ? &*call->sequence : nullptr;
}

/// A reply whose SEQUENCE has succeeded, or nothing.
const nfs4::SEQUENCE4resok* result_of(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->sequence || !event.rpc.asked->sequence) return nullptr;
  return results->sequence->sr_status == nfs4::NFS4_OK ? &results->sequence->sr_resok4 : nullptr;
}

bool is_sequence(const CompoundArguments& call, std::uint32_t opnum) {
  return opnum == (call.callback ? static_cast<std::uint32_t>(nfs4::OP_CB_SEQUENCE)
                                 : static_cast<std::uint32_t>(nfs4::OP_SEQUENCE));
}

// Calls.

Seen without_sequence(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || is_sequence(*call, call->operations[0])) return {};
  const bool allowed =
      !call->callback && std::find(kWithoutSequence.begin(), kWithoutSequence.end(),
                                   call->operations[0]) != kWithoutSequence.end();
  if (allowed && call->announced == 1) return {};
  return fmt::format("operation {} comes first, of {}", call->operations[0], call->announced);
}

Seen sequence_behind(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr) return {};
  for (std::size_t i = 1; i < call->operations.size(); ++i) {
    if (is_sequence(*call, call->operations[i])) return fmt::format("it is operation {}", i + 1);
  }
  return {};
}

Seen slot_out_of_range(const SessionEvent& event) {
  const auto* sequence = sequence_of(event);
  if (sequence == nullptr || event.channel == nullptr || !event.channel->attributes) return {};
  const std::uint32_t slots = event.channel->attributes->ca_maxrequests;
  if (sequence->sa_slotid < slots) return {};
  return fmt::format("slot {} of {}", sequence->sa_slotid, slots);
}

Seen highest_below_slot(const SessionEvent& event) {
  const auto* sequence = sequence_of(event);
  if (sequence == nullptr || sequence->sa_highest_slotid >= sequence->sa_slotid) return {};
  return fmt::format("slot {}, highest {}", sequence->sa_slotid, sequence->sa_highest_slotid);
}

bool same_connection(const SessionEvent& event) {
  return event.slot != nullptr && event.slot->connection == event.rpc.conversation.info().number;
}

Seen slot_in_use(const SessionEvent& event) {
  const auto* sequence = sequence_of(event);
  if (sequence == nullptr || !same_connection(event) || !event.slot->pending) return {};
  if (*event.slot->pending == sequence->sa_sequenceid) return {};
  return fmt::format("slot {} waits for the answer to {}, now comes {}", sequence->sa_slotid,
                     *event.slot->pending, sequence->sa_sequenceid);
}

Seen retry_on_connection(const SessionEvent& event) {
  const auto* sequence = sequence_of(event);
  if (sequence == nullptr || !same_connection(event)) return {};
  const bool again = event.slot->pending == sequence->sa_sequenceid ||
                     (!event.slot->pending && event.slot->last == sequence->sa_sequenceid);
  if (!again) return {};
  return fmt::format("slot {}, sequence {} again, on a connection that was not lost",
                     sequence->sa_slotid, sequence->sa_sequenceid);
}

/// A request without an answer may have been executed or not.
Seen wrong_sequence(const SessionEvent& event) {
  const auto* sequence = sequence_of(event);
  if (sequence == nullptr || event.session == nullptr) return {};
  const std::uint32_t now = sequence->sa_sequenceid;
  if (event.slot == nullptr) {
    if (!event.session->made_here || now == 1) return {};
    return fmt::format("slot {} begins with {}", sequence->sa_slotid, now);
  }
  const auto& [last, pending, connection] = *event.slot;
  if (pending && (now == *pending || now == *pending + 1)) return {};
  if (!pending && !last) return {};
  if (last && (now == *last || now == *last + 1)) return {};
  return fmt::format("slot {}: {} comes behind {}", sequence->sa_slotid, now,
                     pending ? *pending : *last);
}

Seen too_many_operations(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || event.channel == nullptr || !event.channel->attributes) return {};
  const std::uint32_t most = event.channel->attributes->ca_maxoperations;
  if (call->announced <= most) return {};
  return fmt::format("{} operations, ca_maxoperations is {}", call->announced, most);
}

Seen request_too_big(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || event.channel == nullptr || !event.channel->attributes) return {};
  const std::size_t size = event.rpc.seen.message->bytes.size();
  const std::uint32_t most = event.channel->attributes->ca_maxrequestsize;
  if (size <= most) return {};
  return fmt::format("{} bytes, ca_maxrequestsize is {}", size, most);
}

Seen wrong_create_sequence(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || !call->fore_channel || !event.next_create) return {};
  const std::uint32_t now = call->create_sequence;
  if (now == *event.next_create || now + 1 == *event.next_create) return {};
  return fmt::format("csa_sequence {}, {} comes next", now, *event.next_create);
}

Seen steps_up(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || event.rpc.conversation.info().lower_layer == LowerLayer::tcp) return {};
  if ((call->create_flags & CREATE_SESSION4_FLAG_CONN_RDMA) == 0) return {};
  return "CREATE_SESSION4_FLAG_CONN_RDMA on a connection of RDMA";
}

Seen callback_of_unknown_session(const SessionEvent& event) {
  const CompoundArguments* call = call_of(event);
  if (call == nullptr || !call->callback || event.session == nullptr) return {};
  if (!event.session->made_here) return {};
  if (event.session->backchannels.contains(event.rpc.conversation.info().number)) return {};
  return "a callback on a connection that is not bound to its session's backchannel";
}

// Replies.

Seen other_slot(const SessionEvent& event) {
  const auto* result = result_of(event);
  if (result == nullptr) return {};
  const auto& asked = *event.rpc.asked->sequence;
  if (result->sr_sessionid != asked.sa_sessionid) return "another session's id";
  if (result->sr_slotid == asked.sa_slotid && result->sr_sequenceid == asked.sa_sequenceid) {
    return {};
  }
  return fmt::format("slot {} and sequence {}, asked for were {} and {}", result->sr_slotid,
                     result->sr_sequenceid, asked.sa_slotid, asked.sa_sequenceid);
}

Seen reply_too_big(const SessionEvent& event) {
  if (result_of(event) == nullptr || event.channel == nullptr || !event.channel->attributes) {
    return {};
  }
  const auto& attributes = *event.channel->attributes;
  const std::size_t size = event.rpc.seen.message->bytes.size();
  const bool cached = event.rpc.asked->sequence->sa_cachethis;
  const std::uint32_t most =
      cached ? std::min(attributes.ca_maxresponsesize, attributes.ca_maxresponsesize_cached)
             : attributes.ca_maxresponsesize;
  if (size <= most) return {};
  return fmt::format("{} bytes, {} is {}", size,
                     cached ? "ca_maxresponsesize_cached" : "ca_maxresponsesize", most);
}

Seen other_create_sequence(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->created) return {};
  if (results->create_sequence == event.rpc.asked->create_sequence) return {};
  return fmt::format("csr_sequence {}, csa_sequence was {}", results->create_sequence,
                     event.rpc.asked->create_sequence);
}

Seen unasked_flags(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->created) return {};
  const std::uint32_t unasked = results->create_flags & ~event.rpc.asked->create_flags;
  if (unasked == 0) return {};
  return fmt::format("csr_flags has {:#x}, which was not asked for", unasked);
}

Seen raised_size(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->fore_channel || !event.rpc.asked->fore_channel) return {};
  const auto& asked = *event.rpc.asked->fore_channel;
  const auto& given = *results->fore_channel;
  if (given.ca_maxrequestsize > asked.ca_maxrequestsize) {
    return fmt::format("ca_maxrequestsize {} of {}", given.ca_maxrequestsize,
                       asked.ca_maxrequestsize);
  }
  if (given.ca_maxresponsesize > asked.ca_maxresponsesize) {
    return fmt::format("ca_maxresponsesize {} of {}", given.ca_maxresponsesize,
                       asked.ca_maxresponsesize);
  }
  return {};
}

Seen changed_backchannel(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->back_channel || !event.rpc.asked->back_channel) return {};
  if ((results->create_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) == 0) return {};
  const auto& asked = *event.rpc.asked->back_channel;
  const auto& given = *results->back_channel;
  if (given.ca_maxoperations == asked.ca_maxoperations &&
      given.ca_maxrequests == asked.ca_maxrequests) {
    return {};
  }
  return fmt::format("ca_maxoperations {} of {}, ca_maxrequests {} of {}", given.ca_maxoperations,
                     asked.ca_maxoperations, given.ca_maxrequests, asked.ca_maxrequests);
}

Seen no_role(const SessionEvent& event) {
  const auto& results = event.rpc.results;
  if (!results || !results->client_id) return {};
  if ((results->client_flags & nfs4::EXCHGID4_FLAG_MASK_PNFS) != 0) return {};
  return fmt::format("eir_flags {:#x}", results->client_flags);
}

constexpr Rule<SessionEvent> kSessionRules[] = {
    {"RFC 8881 section 2.10.2.1", "A COMPOUND begins with SEQUENCE, or is one of five operations.",
     false, without_sequence},
    {"RFC 8881 section 18.46.3", "SEQUENCE is the first operation.", false, sequence_behind},
    {"RFC 8881 section 18.46.3", "The slot is one that the session has.", true, slot_out_of_range},
    {"RFC 8881 section 18.46.3", "The highest slot in use is not below the one that is used.",
     false, highest_below_slot},
    {"RFC 8881 section 2.10.6.1", "A slot has one request at a time.", true, slot_in_use},
    {"RFC 8881 section 2.9.2 (E-8881-2)",
     "A request is sent again only when its connection was lost.", true, retry_on_connection},
    {"RFC 8881 section 2.10.6.1", "Sequence numbers of a slot go up by one, from 1.", true,
     wrong_sequence},
    {"RFC 8881 section 18.36.3", "A request has at most ca_maxoperations.", true,
     too_many_operations},
    {"RFC 8881 section 18.36.3 (E-8881-10)", "A request is not larger than ca_maxrequestsize.",
     true, request_too_big},
    {"RFC 8881 section 18.36.4", "csa_sequence is that of EXCHANGE_ID, then goes up by one.", true,
     wrong_create_sequence},
    {"RFC 8881 section 18.36.3 (E-8881-12)", "CONN_RDMA is for connections in streaming mode.",
     false, steps_up},
    {"RFC 8881 section 2.10.3.1", "Callbacks come on connections of the backchannel.", true,
     callback_of_unknown_session},
    {"RFC 8881 section 18.46.3", "SEQUENCE is answered for its own session, slot and number.", true,
     other_slot},
    {"RFC 8881 section 2.10.6.4 (E-8881-15)", "A reply is not larger than ca_maxresponsesize.",
     true, reply_too_big},
    {"RFC 8881 section 18.36.3", "csr_sequence is csa_sequence.", true, other_create_sequence},
    {"RFC 8881 section 18.36.3", "csr_flags has nothing that was not asked for.", true,
     unasked_flags},
    {"RFC 8881 section 18.36.3 (E-8881-11)", "The server raises no size of the fore channel.", true,
     raised_size},
    {"RFC 8881 section 18.36.3 (E-8881-11)",
     "The server keeps ca_maxoperations and ca_maxrequests of the backchannel.", true,
     changed_backchannel},
    {"RFC 8881 section 18.35.3", "The server says which roles it has.", true, no_role},
};

}  // namespace

std::span<const Rule<SessionEvent>> session_rules() { return kSessionRules; }

}  // namespace nfsrdma::lab
