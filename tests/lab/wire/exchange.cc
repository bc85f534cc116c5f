#include "tests/lab/wire/exchange.h"

#include <algorithm>

#include "client/proto/attributes.h"
#include "tests/lab/text/operations.h"
#include "transport/rpc/message.h"

namespace nfsrdma::lab {
namespace {

constexpr std::uint32_t kCallWord = static_cast<std::uint32_t>(rpc::MessageType::call);

std::string proc_name(std::uint32_t proc) {
  constexpr std::array<const char*, rdma::kProcs> kNames = {"MSG",  "NOMSG", "MSGP",
                                                            "DONE", "ERROR", "OPTIONAL"};
  return proc < kNames.size() ? kNames[proc] : std::to_string(proc);
}

std::string error_name(std::uint32_t error) {
  switch (error) {
    case rdma::ERR_VERS: return "ERR_VERS";
    case rdma::ERR_CHUNK: return "ERR_CHUNK";
    case rdma::RDMA_ERR_INVAL_OPTION: return "RDMA_ERR_INVAL_OPTION";
    default: return std::to_string(error);
  }
}

std::uint64_t length_of(const Chunk& chunk) {
  std::uint64_t sum = 0;
  for (const auto& segment : chunk) sum += segment.length;
  return sum;
}

Node describe_chunk(const Chunk& chunk) {
  Node node;
  node.add("length", Node::number(length_of(chunk)));
  node.add("segments", Node::number(chunk.size()));
  return node;
}

/// What the server says that it wrote, of the memory that is there.
Bytes placed_bytes(const Chunk& chunk, const std::vector<Exposed*>& memory) {
  Bytes all;
  for (std::size_t i = 0; i < chunk.size() && i < memory.size(); ++i) {
    if (!memory[i]) continue;
    const auto size = std::min<std::size_t>(chunk[i].length, memory[i]->memory.size());
    all.insert(all.end(), memory[i]->memory.begin(),
               memory[i]->memory.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return all;
}

/// Results that came in Write chunks, with their memory.
struct Placed {
  std::vector<Bytes> memory;
  std::vector<xdr::PlacedItem> items;
};

Placed placed_results(const WireHeader& header, const SentCall* call) {
  Placed placed;
  if (!call) return placed;
  const std::size_t count = std::min(header.writes.size(), call->writes.size());
  for (std::size_t i = 0; i < count; ++i) {
    placed.memory.push_back(placed_bytes(header.writes[i], call->writes[i]));
  }
  for (const Bytes& bytes : placed.memory) {
    xdr::PlacedItem item;
    if (!bytes.empty()) item = {.data = bytes, .pad_included = true};
    placed.items.push_back(item);
  }
  return placed;
}

/// A word: "GARBAGE_ARGS", "undefined-status".
Node fault_word(int code) {
  std::string name(rpc::fault_name(code));
  std::replace(name.begin(), name.end(), ' ', '-');
  return Node::word(name);
}

void add_rpc(Node& all, std::span<const std::byte> message, std::uint32_t xid,
             const Placed& placed) {
  xdr::Decoder in(message);
  in.place_in_order(placed.items);
  const auto accepted = rpc::decode_reply_header(in, xid);
  if (!accepted) {
    const Error& error = accepted.error();
    all.add("rpc", error.layer == Layer::rpc ? fault_word(error.code) : Node::quoted(error.detail));
    return;
  }
  all.add("rpc", Node::word("success"));
  if (in.remaining() == 0) return;
  Node results = decode_results(in);
  for (std::size_t i = 0; i < results.items.size(); ++i) {
    all.add(results.names[i], std::move(results.items[i]));
  }
}

void add_header(Node& all, const WireHeader& header) {
  all.add("xid", Node::number(header.xid));
  all.add("vers", Node::number(header.version));
  all.add("credits", Node::number(header.credit));
  all.add("proc", Node::word(proc_name(header.proc)));
}

void add_lists(Node& all, const WireHeader& header) {
  if (!header.reads.empty()) all.add("read", Node::number(header.reads.size()));
  if (!header.writes.empty()) {
    Node list{Node::Kind::list, "", {}, {}, 0};
    for (const Chunk& chunk : header.writes) list.items.push_back(describe_chunk(chunk));
    all.add("write", std::move(list));
  }
  if (header.reply) all.add("reply_chunk", describe_chunk(*header.reply));
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  xdr::Decoder in(bytes.subspan(std::min(at, bytes.size())));
  return in.u32("word");
}

/// The RPC message of a backward call.
std::span<const std::byte> rpc_of(const Arrived& call, Carrier carrier, WireHeader& header) {
  std::span<const std::byte> message = call.bytes;
  if (!has_rdma(carrier)) return message;
  (void)decode_header(message, header);
  return message.subspan(std::min(header.size, message.size()));
}

}  // namespace

Sorted sort_message(std::span<const std::byte> message, Carrier carrier) {
  Sorted sorted;
  if (message.size() < 2 * xdr::kUnit) return sorted;
  sorted.xid = word_at(message, 0);
  if (!has_rdma(carrier)) {
    sorted.kind =
        word_at(message, xdr::kUnit) == kCallWord ? MessageKind::call : MessageKind::reply;
    return sorted;
  }
  WireHeader header;
  const bool readable = decode_header(message, header);
  if (message.size() < rdma::kFixedWords) return sorted;
  sorted.kind = MessageKind::reply;
  const auto rest = message.subspan(std::min(header.size, message.size()));
  if (readable && header.proc == rdma::RDMA_MSG && rest.size() >= 2 * xdr::kUnit &&
      word_at(rest, xdr::kUnit) == kCallWord) {
    sorted.kind = MessageKind::call;
  }
  return sorted;
}

Node describe_reply(const Arrived& reply, const SentCall* call, Carrier carrier) {
  Node all;
  if (!has_rdma(carrier)) {
    all.add("xid", Node::number(word_at(reply.bytes, 0)));
    all.add("bytes", Node::number(reply.bytes.size()));
    add_rpc(all, reply.bytes, word_at(reply.bytes, 0), {});
    return all;
  }
  WireHeader header;
  const bool readable = decode_header(reply.bytes, header);
  add_header(all, header);
  all.add("bytes", Node::number(reply.bytes.size()));
  if (reply.invalidated) all.add("invalidated", Node::number(*reply.invalidated));
  if (!readable) {
    all.add("header", Node::word("malformed"));
    return all;
  }
  if (header.proc == rdma::RDMA_ERROR) {
    all.add("error", Node::word(error_name(header.error)));
    if (header.error == rdma::ERR_VERS) {
      all.add("low", Node::number(header.lowest));
      all.add("high", Node::number(header.highest));
    }
    return all;
  }
  add_lists(all, header);
  const Placed placed = placed_results(header, call);
  if (header.proc == rdma::RDMA_MSG) {
    add_rpc(all, std::span(reply.bytes).subspan(header.size), header.xid, placed);
  } else if (header.proc == rdma::RDMA_NOMSG && header.reply && call) {
    add_rpc(all, placed_bytes(*header.reply, call->reply), header.xid, placed);
  }
  return all;
}

Node describe_callback(const Arrived& call, Carrier carrier) {
  Node all;
  WireHeader header;
  const auto message = rpc_of(call, carrier, header);
  if (has_rdma(carrier)) add_header(all, header);
  xdr::Decoder in(message);
  const auto rpc = rpc::decode_call_header(in);
  if (!rpc) {
    all.add("malformed", Node::quoted(rpc.error().detail));
    return all;
  }
  all.add("procedure", Node::number(rpc->procedure));
  if (rpc->procedure != nfs4::kProcCbCompound) return all;
  Node arguments = decode_callback_arguments(in);
  for (std::size_t i = 0; i < arguments.items.size(); ++i) {
    all.add(arguments.names[i], std::move(arguments.items[i]));
  }
  return all;
}

namespace {

/// The result of one operation of the server: right where that takes no knowledge.
template <class Op>
void answer_operation(Op, xdr::Decoder& in, xdr::Encoder& out) {
  typename Op::Args arguments;
  typename Op::Res result;
  nfs4::decode(in, arguments);
  if constexpr (Op::Args::opnum == nfs4::OP_CB_SEQUENCE) {
    auto& answer = result.csr_resok4;
    answer.csr_sessionid = arguments.csa_sessionid;
    answer.csr_sequenceid = arguments.csa_sequenceid;
    answer.csr_slotid = arguments.csa_slotid;
    answer.csr_highest_slotid = arguments.csa_highest_slotid;
    answer.csr_target_highest_slotid = arguments.csa_highest_slotid;
  } else if constexpr (Op::Args::opnum == nfs4::OP_CB_GETATTR) {
    result.status = nfs4::NFS4ERR_BADHANDLE;
  }
  nfs4::encode_operation(out, result);
}

void answer_compound(xdr::Decoder& in, xdr::Encoder& out) {
  nfs4::CB_COMPOUND4args_header arguments;
  nfs4::decode(in, arguments);
  nfs4::CB_COMPOUND4res_header results;
  results.tag = arguments.tag;
  const std::size_t count_at = nfs4::encode_header(out, results);
  std::uint32_t done = 0;
  while (in.ok() && done < arguments.operations) {
    const auto opnum = static_cast<nfs4::nfs_cb_opnum4>(in.u32("opnum"));
    const bool known = nfs4::CallbackOperations::dispatch(
        opnum, [&](auto operation) { answer_operation(operation, in, out); });
    if (!known) break;
    ++done;
  }
  out.patch(count_at, done);
}

}  // namespace

Bytes answer_callback(const Arrived& call, Carrier carrier) {
  constexpr std::size_t kMost = 4096;
  constexpr std::uint32_t kBackwardCredits = 16;
  WireHeader header;
  xdr::Decoder in(rpc_of(call, carrier, header));
  const auto rpc = rpc::decode_call_header(in);
  if (!rpc) return {};
  Bytes memory(kMost);
  xdr::Encoder out(memory);
  rpc::encode_accepted_reply(out, rpc->xid, rpc::AcceptStat::success);
  if (rpc->procedure == nfs4::kProcCbCompound) answer_compound(in, out);
  if (!in.ok() || !out.ok()) return {};
  Bytes answer;
  if (has_rdma(carrier)) {
    WireHeader own;
    own.xid = header.xid;
    own.version = header.version;
    own.credit = kBackwardCredits;
    answer = encode_header(own);
  }
  const auto encoded = out.encoded();
  answer.insert(answer.end(), encoded.begin(), encoded.end());
  return answer;
}

}  // namespace nfsrdma::lab
