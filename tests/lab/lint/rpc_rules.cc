#include "tests/lab/lint/rpc_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transport/rpc/message.h"

namespace nfsrdma::lab {
namespace {

using Seen = std::optional<std::string>;

/// Programs from here on are transient (RFC 5531 section 8.3): callbacks have one.
constexpr std::uint32_t kTransientPrograms = 0x40000000;

/// A callback, by where it comes from: the server calls nothing else.
bool is_callback(const RpcSeen& seen) {
  const Side caller =
      seen.direction == Direction::call ? seen.source.from : other(seen.source.from);
  return caller == Side::server;
}

bool is_compound(const RpcCall& call, bool callback) {
  if (call.procedure != nfs4::kProcCompound) return false;
  if (callback) return call.program >= kTransientPrograms;
  return call.program == rpc::kNfsProgram && call.program_version == rpc::kNfsVersion4;
}

void decode_call(RpcEvent& event) {
  xdr::Decoder in(event.seen.message->bytes);
  const auto header = rpc::decode_call_header(in);
  if (!header) {
    event.header_fault = header.error().message();
    return;
  }
  const bool callback = is_callback(event.seen);
  if (is_compound(*event.seen.call, callback)) event.arguments = decode_arguments(in, callback);
}

/// Of a call whose Read chunks the capture has in part only: that it came, and which slot it uses.
/// What is missing lies behind.
void keep_sequence(RpcEvent& event) {
  event.header_fault.clear();
  const auto whole = std::exchange(event.arguments, {});
  if (!whole || !whole->sequence || whole->operations.empty()) return;
  CompoundArguments& part = event.arguments.emplace();
  part.callback = whole->callback;
  part.minor_version = whole->minor_version;
  part.announced = whole->announced;
  part.operations = {whole->operations.front()};
  part.sequence = whole->sequence;
  part.eligible_results = whole->announced;  // at most
  part.understood = false;
}

void decode_reply(RpcEvent& event) {
  xdr::Decoder in(event.seen.message->bytes);
  const auto header = rpc::decode_reply_header(in, event.seen.xid);
  event.success = header.has_value();
  if (!header) {
    const Error& error = header.error();
    const bool defined =
        error.layer == Layer::rpc && error.code != static_cast<int>(rpc::Fault::undefined_status);
    if (!defined) event.header_fault = error.message();
    return;
  }
  // What was put back at a guessed place decodes as anything.
  if (event.asked == nullptr || !event.seen.message->fault.empty()) return;
  std::vector<PlacedAt> none;
  event.results = decode_results(in, event.asked->callback, none);
}

Seen wrong_header(const RpcEvent& event) {
  if (event.header_fault.empty()) return {};
  return event.header_fault;
}

Seen wrong_arguments(const RpcEvent& event) {
  if (!event.arguments || event.arguments->fault.empty()) return {};
  return event.arguments->fault;
}

Seen wrong_results(const RpcEvent& event) {
  const RpcSeen& seen = event.seen;
  if (seen.direction != Direction::reply) return {};
  if (seen.call != nullptr && !seen.message->fault.empty()) return seen.message->fault;
  if (!event.results || event.results->fault.empty()) return {};
  return event.results->fault;
}

Seen wrong_placement(const RpcEvent& event) {
  if (event.seen.direction != Direction::reply || event.seen.call == nullptr) return {};
  if (event.seen.call->write_chunks == 0 || event.seen.message->fault.empty()) return {};
  return event.seen.message->fault;
}

Seen inline_despite_chunk(const RpcEvent& event) {
  const RpcSeen& seen = event.seen;
  if (seen.direction != Direction::reply || seen.call == nullptr) return {};
  // Chunks are matched in order (RFC 8267 section 6.4.1): with a chunk for each, none is left
  // inline.
  if (!event.asked || seen.call->write_chunks < event.asked->eligible_results) return {};
  if (seen.message->inline_items == 0) return {};
  for (std::uint32_t i = 0; i < seen.call->write_chunks; ++i) {
    if (seen.call->segments_of(i) == 0) return {};
  }
  return fmt::format("{} results are inline, for which there are Write chunks",
                     seen.message->inline_items);
}

Seen too_many_write_chunks(const RpcEvent& event) {
  if (!event.arguments || !event.arguments->understood || !event.arguments->fault.empty())
    return {};
  const std::uint32_t chunks = event.seen.call->write_chunks;
  if (chunks <= event.arguments->eligible_results) return {};
  return fmt::format("{} Write chunks, {} operations whose results may use them", chunks,
                     event.arguments->eligible_results);
}

/// The lengths of Read chunks, by their Positions.
Seen ineligible_argument(const RpcEvent& event) {
  if (!event.arguments || !event.arguments->understood || !event.arguments->fault.empty())
    return {};
  const RpcCall& call = *event.seen.call;
  for (const Offer& offer : call.offers) {
    if (offer.kind() != Offer::Kind::read || (call.long_call && offer.place() == 0)) continue;
    const auto& eligible = event.arguments->eligible;
    const bool known = std::any_of(eligible.begin(), eligible.end(),
                                   [&](const auto& item) { return item.offset == offer.place(); });
    if (!known)
      return fmt::format("a Read chunk at Position {}, where no such item is", offer.place());
  }
  return {};
}

/// Of all segments at this Position.
std::uint64_t read_chunk_length(const RpcCall& call, std::size_t position) {
  std::uint64_t length = 0;
  for (const Offer& offer : call.offers) {
    const bool at = offer.kind() == Offer::Kind::read && offer.place() == position;
    if (at) length += offer.segment().length;
  }
  return length;
}

std::string_view name_of(std::uint32_t operation) {
  return nfs4::operation_name(static_cast<nfs4::nfs_opnum4>(operation));
}

/// 677eb17e94ed of Linux: the operation behind WRITE's data was a segment of the same chunk.
Seen more_than_the_item(const RpcEvent& event) {
  if (!event.arguments || !event.arguments->fault.empty()) return {};
  for (const auto& item : event.arguments->eligible) {
    const std::uint64_t length = read_chunk_length(*event.seen.call, item.offset);
    if (length <= xdr::padded(item.length)) continue;
    const auto& operations = event.arguments->operations;
    const std::size_t next = item.operation + 1;
    return fmt::format("the Read chunk at Position {} has {} bytes, its item {}: {} is in it",
                       item.offset, length, item.length,
                       next < operations.size() ? name_of(operations[next]) : "what follows");
  }
  return {};
}

Seen wrong_chunk_length(const RpcEvent& event) {
  if (!event.arguments || !event.arguments->fault.empty()) return {};
  for (const auto& item : event.arguments->eligible) {
    const std::uint64_t length = read_chunk_length(*event.seen.call, item.offset);
    if (length != 0 && length != item.length && length != xdr::padded(item.length)) {
      return fmt::format("a Read chunk of {} bytes for an item of {}", length, item.length);
    }
  }
  return {};
}

Seen too_many_results(const RpcEvent& event) {
  if (!event.results || !event.results->fault.empty()) return {};
  if (event.results->announced <= event.asked->announced) return {};
  return fmt::format("{} results for {} operations", event.results->announced,
                     event.asked->announced);
}

Seen other_operation(const RpcEvent& event) {
  if (!event.results) return {};
  const auto& results = event.results->operations;
  const auto& asked = event.asked->operations;
  for (std::size_t i = 0; i < std::min(results.size(), asked.size()); ++i) {
    if (results[i].opnum == asked[i] || results[i].opnum == nfs4::OP_ILLEGAL) continue;
    return fmt::format("result {} is of operation {}, asked for was {}", i, results[i].opnum,
                       asked[i]);
  }
  return {};
}

Seen goes_on_after_error(const RpcEvent& event) {
  if (!event.results) return {};
  const auto& results = event.results->operations;
  for (std::size_t i = 0; i + 1 < results.size(); ++i) {
    if (results[i].status == nfs4::NFS4_OK) continue;
    return fmt::format("result {} of {} is {}", i, results.size(),
                       nfs4::status_name(results[i].status));
  }
  return {};
}

Seen stops_without_error(const RpcEvent& event) {
  if (!event.results || !event.results->understood || !event.results->fault.empty()) return {};
  const bool all = event.results->announced >= event.asked->announced;
  if (all || event.results->status != nfs4::NFS4_OK) return {};
  return fmt::format("{} results with status NFS4_OK for {} operations", event.results->announced,
                     event.asked->announced);
}

Seen other_status(const RpcEvent& event) {
  if (!event.results || !event.results->understood || !event.results->fault.empty()) return {};
  const auto& results = event.results->operations;
  if (results.empty() || results.back().status == event.results->status) return {};
  return fmt::format("status {}, that of the last result is {}",
                     nfs4::status_name(event.results->status),
                     nfs4::status_name(results.back().status));
}

constexpr Rule<RpcEvent> kRpcRules[] = {
    {"RFC 5531 section 9", "The RPC header is that of a call or a reply.", false, wrong_header},
    {"RFC 8881 section 16.2.1", "Arguments are those of their operations.", false, wrong_arguments},
    {"RFC 8166 section 3.4.6 (V1-3.4.6-9, V1-3.4.6-10)",
     "What is placed is as long as the result says, without pad.", true, wrong_placement},
    {"RFC 8881 section 16.2.2", "Results are those of their operations.", false, wrong_results},
    {"RFC 8166 section 4.3.2 (V1-4.3.2-2, E-8267-8)",
     "Results for which there is a Write chunk go into it.", true, inline_despite_chunk},
    {"RFC 8267 section 6.4.1 (E-8267-8)", "There are no more Write chunks than results for them.",
     false, too_many_write_chunks},
    {"RFC 8267 section 6.1 (E-8267-1, V1-3.4.5-2)",
     "Read chunks stand for the data of WRITE or the text of a link, at its Position.", false,
     ineligible_argument},
    {"RFC 8267 section 6.1 (E-8267-1)",
     "A Read chunk has its item alone: the operations behind it are inline.", false,
     more_than_the_item},
    {"RFC 8166 section 3.4.5 (V1-3.4.5-11, V1-3.4.5-12)",
     "A Read chunk is as long as its item, with or without pad.", false, wrong_chunk_length},
    {"RFC 8881 section 16.2.2", "There are no more results than operations.", true,
     too_many_results},
    {"RFC 8881 section 16.2.3", "Results come in the order of the operations.", true,
     other_operation},
    {"RFC 8881 section 16.2.3", "No operation is evaluated behind one that fails.", true,
     goes_on_after_error},
    {"RFC 8881 section 16.2.3", "Each operation is evaluated unless one fails.", true,
     stops_without_error},
    {"RFC 8881 section 16.2.2", "The status is that of the last result.", true, other_status},
};

}  // namespace

RpcEvent decode_rpc(const RpcSeen& seen, const Conversation& conversation,
                    const CompoundArguments* asked) {
  RpcEvent event{seen, conversation, {}, true, {}, {}, asked};
  const bool complete = seen.message->complete;
  if (seen.direction == Direction::call) {
    decode_call(event);
    if (!complete) keep_sequence(event);
  } else if (complete) {
    decode_reply(event);
  }
  return event;
}

std::span<const Rule<RpcEvent>> rpc_rules() { return kRpcRules; }

}  // namespace nfsrdma::lab
