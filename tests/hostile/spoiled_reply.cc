#include "tests/hostile/spoiled_reply.h"

#include <algorithm>

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

/// Steps over one result. What is not known reaches to the end.
void skip_result(xdr::Decoder& in, std::uint32_t opnum) {
  const bool known = Operations::dispatch(opnum, [&](auto operation) {
    typename decltype(operation)::Res result;
    decode(in, result);
  });
  if (!known || !in.ok()) (void)in.raw(in.remaining(), "unknown result");
}

void append(responder::ServerCall& call, std::span<const std::byte> bytes) {
  if (std::byte* place = call.results().reserve(bytes.size())) std::ranges::copy(bytes, place);
}

bool append_data(responder::ServerCall& call, const ResultItem& item) {
  if (item.opnum != OP_READ && item.opnum != OP_READLINK) return false;
  const std::span<std::byte> lasting = call.scratch(item.body.size());
  if (lasting.size() < item.body.size()) return false;
  std::ranges::copy(item.body, lasting.begin());
  bool whole = false;
  Operations::dispatch(item.opnum, [&](auto operation) {
    xdr::Decoder in(lasting.first(item.body.size()));
    typename decltype(operation)::Res result;
    decode(in, result);
    whole = in.ok() && in.remaining() == 0;
    if (whole) encode(call.results(), result);
  });
  return whole;
}

}  // namespace

std::span<std::byte> SpoiledReply::workspace() {
  static Bytes memory(kMostBytes);
  return memory;
}

void SpoiledReply::fail_at(nfs_opnum4 opnum, nfsstat4 failure) {
  const auto place =
      std::ranges::find(results, static_cast<std::uint32_t>(opnum), &ResultItem::opnum);
  if (place == results.end()) return;
  results.erase(place + 1, results.end());
  Operations::dispatch(opnum, [&](auto operation) {
    typename decltype(operation)::Res result;
    status_of(result) = failure;
    replace(*place, result);
  });
  status = failure;
  count = static_cast<std::uint32_t>(results.size());
}

SpoiledReply take_apart(std::span<const std::byte> message) {
  SpoiledReply reply;
  xdr::Decoder in(message);
  COMPOUND4res_header header;
  decode(in, header);
  reply.status = header.status;
  reply.tag = header.tag;
  reply.count = header.operations;
  for (std::uint32_t i = 0; i < header.operations && in.ok() && in.remaining() > 0; ++i) {
    ResultItem item;
    item.opnum = in.u32("resop");
    const std::size_t begin = in.offset();
    skip_result(in, item.opnum);
    const auto body = message.subspan(begin, in.offset() - begin);
    item.body.assign(body.begin(), body.end());
    reply.results.push_back(std::move(item));
  }
  return reply;
}

Bytes put_together(const SpoiledReply& reply) {
  xdr::Encoder out(SpoiledReply::workspace());
  encode(out, COMPOUND4res_header{reply.status, reply.tag, reply.count});
  for (const ResultItem& item : reply.results) {
    out.u32(item.opnum);
    if (std::byte* place = out.reserve(item.body.size())) {
      std::ranges::copy(item.body, place);
    }
  }
  Bytes memory(out.encoded().begin(), out.encoded().end());
  memory.insert(memory.end(), reply.trailing.begin(), reply.trailing.end());
  for (const auto& [place, bits] : reply.flips) {
    if (!memory.empty()) memory[place % memory.size()] ^= bits;
  }
  if (memory.size() > reply.cut) memory.resize(reply.cut);
  return memory;
}

void answer_with(responder::ServerCall& call, const SpoiledReply& reply) {
  const bool in_parts = reply.cut == SIZE_MAX && reply.flips.empty();
  if (!in_parts) return append(call, put_together(reply));
  encode(call.results(), COMPOUND4res_header{reply.status, reply.tag, reply.count});
  for (const ResultItem& item : reply.results) {
    call.results().u32(item.opnum);
    if (!append_data(call, item)) append(call, item.body);
  }
  append(call, reply.trailing);
}

}  // namespace nfsrdma::hostile
