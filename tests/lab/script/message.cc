#include "tests/lab/script/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tests/support/unreduced.h"

namespace nfsrdma::lab::script {
namespace {

/// Copies the bytes of `from` into the memories, one behind the other.
void fill(const std::vector<Exposed*>& memory, std::span<const std::byte> from) {
  for (Exposed* each : memory) {
    if (!each) continue;
    const auto part = from.first(std::min(from.size(), each->memory.size()));
    std::copy(part.begin(), part.end(), each->memory.begin());
    from = from.subspan(part.size());
  }
}

std::size_t total(const Segments& segments) {
  std::size_t sum = 0;
  for (const Segment& each : segments) sum += each.size;
  return sum;
}

/// Exposes the memory of the segments, and notes what the header says of each.
Result<std::vector<Exposed*>> expose(const Segments& segments, Peer& peer, fabric::Access access,
                                     Chunk& chunk) {
  std::vector<Exposed*> memory;
  for (const Segment& each : segments) {
    if (each.foreign) {
      memory.push_back(nullptr);
      chunk.push_back(*each.foreign);
      continue;
    }
    auto exposed = peer.expose(each.size, access);
    if (!exposed) return fail_from(exposed);
    memory.push_back(*exposed);
    chunk.push_back((*exposed)->segment());
    if (each.claims) chunk.back().length = *each.claims;
  }
  return memory;
}

/// Which bytes of the message travel by Read chunks behind position 0.
std::vector<bool> left_out(const Recipe& recipe) {
  std::vector<bool> out(recipe.rpc.size());
  for (const ReadChunk& chunk : recipe.reads) {
    if (chunk.position == 0) continue;
    const std::size_t from = std::min<std::size_t>(chunk.position, out.size());
    const std::size_t to = std::min(from + xdr::padded(total(chunk.segments)), out.size());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(from),
              out.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  return out;
}

Result<void> add_reads(const Recipe& recipe, Peer& peer, std::span<const std::byte> reduced,
                       WireHeader& header) {
  for (const ReadChunk& read : recipe.reads) {
    Chunk chunk;
    auto memory = expose(read.segments, peer, fabric::Access::remote_read, chunk);
    if (!memory) return fail_from(memory);
    const std::size_t from = std::min<std::size_t>(read.position, recipe.rpc.size());
    fill(*memory, read.position == 0 ? reduced : std::span(recipe.rpc).subspan(from));
    for (const auto& segment : chunk) header.reads.push_back({read.position, segment});
  }
  return {};
}

}  // namespace

Result<Encoded> encode_compound(const CompoundOptions& options,
                                const std::vector<OperationText>* operations) {
  // Not zeroed: that would touch all of it for each call, of which most have a few hundred bytes.
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(kMaxArguments);
  TextMemory values;
  xdr::Encoder out({memory.get(), kMaxArguments});
  rpc::encode_call_header(out, options.xid, options.program, options.version,
                          operations ? nfs4::kProcCompound : nfs4::kProcNull, options.credential,
                          "nfsrdma-lab");
  if (operations) {
    nfs4::COMPOUND4args_header header;
    header.tag = options.tag;
    header.minorversion = options.minor_version;
    header.operations = static_cast<std::uint32_t>(operations->size());
    nfs4::encode_header(out, header);
    for (const auto& operation : *operations) TRY(encode_operation(out, operation, values));
  }
  Encoded encoded;
  std::size_t before = 0;
  for (const xdr::OmittedItem& item : out.omitted()) {
    encoded.items.push_back({static_cast<std::uint32_t>(item.offset + before), item.data.size()});
    before += xdr::padded(item.data.size());
  }
  encoded.rpc = testing_support::unreduced(out);
  return encoded;
}

Result<SentCall> assemble(const Recipe& recipe, Peer& peer) {
  SentCall call;
  call.xid = recipe.xid;
  if (!has_rdma(peer.carrier())) {
    const bool chunks = !recipe.reads.empty() || !recipe.writes.empty() || recipe.reply;
    if (chunks) return wrong(recipe.line, "chunks need RDMA, and this connection has none");
    call.message = recipe.rpc;
    return call;
  }
  Bytes reduced;
  const auto out = left_out(recipe);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) reduced.push_back(recipe.rpc[i]);
  }
  WireHeader header;
  header.xid = recipe.xid;
  header.version = recipe.version;
  header.credit = recipe.credit;
  TRY(add_reads(recipe, peer, reduced, header));
  for (const Segments& segments : recipe.writes) {
    auto memory =
        expose(segments, peer, fabric::Access::remote_write, header.writes.emplace_back());
    if (!memory) return fail_from(memory);
    call.writes.push_back(std::move(*memory));
  }
  if (recipe.reply) {
    auto memory = expose(*recipe.reply, peer, fabric::Access::remote_write, header.reply.emplace());
    if (!memory) return fail_from(memory);
    call.reply = std::move(*memory);
  }
  const bool whole_by_chunk = std::any_of(recipe.reads.begin(), recipe.reads.end(),
                                          [](const ReadChunk& each) { return each.position == 0; });
  header.proc = recipe.proc.value_or(whole_by_chunk ? rdma::RDMA_NOMSG : rdma::RDMA_MSG);
  call.message = encode_header(header);
  if (header.proc != rdma::RDMA_NOMSG) {
    call.message.insert(call.message.end(), reduced.begin(), reduced.end());
  }
  return call;
}

Result<std::uint64_t> number_of(const Node& node, const Bindings& bindings, std::uint64_t most) {
  auto resolved = resolve(node, bindings);
  if (!resolved) return fail_from(resolved);
  const auto number =
      resolved->kind == Node::Kind::word ? to_constant(resolved->text) : std::nullopt;
  if (!number || *number > most) {
    return wrong(node.line, fmt::format("{} is no number up to {}", to_text(*resolved), most));
  }
  return *number;
}

namespace {

Result<Segment> resolve_segment(const SegmentText& text, const Bindings& bindings, int line) {
  Segment segment;
  auto size = resolve(text.size, bindings);
  if (!size) return fail_from(size);
  if (size->kind == Node::Kind::record) {
    fabric::Segment& foreign = segment.foreign.emplace();
    for (const auto& [name, value] :
         {std::pair("handle", &foreign.handle), std::pair("length", &foreign.length)}) {
      const Node* node = size->find(name);
      if (!node) return wrong(line, fmt::format("a segment without memory needs {}=N", name));
      auto number = number_of(*node, bindings, UINT32_MAX);
      if (!number) return fail_from(number);
      *value = static_cast<std::uint32_t>(*number);
    }
    if (const Node* node = size->find("offset")) {
      auto number = number_of(*node, bindings, UINT64_MAX);
      if (!number) return fail_from(number);
      foreign.offset = *number;
    }
    return segment;
  }
  auto bytes = number_of(*size, bindings, kMaxExposed);
  if (!bytes) return fail_from(bytes);
  segment.size = *bytes;
  if (text.claims) {
    auto claims = number_of(*text.claims, bindings, UINT32_MAX);
    if (!claims) return fail_from(claims);
    segment.claims = static_cast<std::uint32_t>(*claims);
  }
  return segment;
}

}  // namespace

Result<Segments> resolve_chunk(const ChunkText& chunk, const Bindings& bindings, int line) {
  Segments all;
  for (const SegmentText& text : chunk) {
    auto segment = resolve_segment(text, bindings, line);
    if (!segment) return fail_from(segment);
    std::uint64_t times = 1;
    if (text.times) {
      auto number = number_of(*text.times, bindings, kMaxSegments);
      if (!number) return fail_from(number);
      times = *number;
    }
    all.insert(all.end(), times, *segment);
    if (all.size() > kMaxSegments || total(all) > kMaxExposed) {
      return wrong(line, "a chunk of more than 4096 segments or 256 MiB");
    }
  }
  return all;
}

}  // namespace nfsrdma::lab::script
