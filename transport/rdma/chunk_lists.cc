#include "transport/rdma/chunk_lists.h"

namespace nfsrdma::rdma {
namespace {

void encode_segment(xdr::Encoder& out, const fabric::Segment& segment) {
  out.u32(segment.handle);
  out.u32(segment.length);
  out.u64(segment.offset);
}

fabric::Segment decode_segment(xdr::Decoder& in) {
  fabric::Segment segment;
  segment.handle = in.u32("segment handle");
  segment.length = in.u32("segment length");
  segment.offset = in.u64("segment offset");
  return segment;
}

void encode_write_chunk(xdr::Encoder& out, const WriteChunk& chunk) {
  out.u32(chunk.count);
  for (const auto& segment : chunk.segments()) encode_segment(out, segment);
}

void decode_write_chunk(xdr::Decoder& in, WriteChunk& chunk) {
  chunk.count = in.count(kMaxSegments, kSegmentSize, "chunk segment count");
  for (auto& segment : chunk.segments()) segment = decode_segment(in);
}

void decode_read_list(xdr::Decoder& in, ChunkLists& lists) {
  while (in.boolean("Read list") && in.ok()) {
    const std::uint32_t position = in.u32("read segment position");
    if (position % xdr::kUnit != 0) in.set_fault(xdr::Fault::unexpected, "read segment position");
    const fabric::Segment segment = decode_segment(in);
    if (!in.ok()) return;
    if (!lists.add_read(position, segment)) in.set_fault(xdr::Fault::too_long, "Read list");
  }
}

void decode_write_list(xdr::Decoder& in, ChunkLists& lists) {
  while (in.boolean("Write list") && in.ok()) {
    WriteChunk* chunk = lists.add_write();
    if (chunk) {
      decode_write_chunk(in, *chunk);
    } else {
      in.set_fault(xdr::Fault::too_long, "Write list");
    }
  }
}

}  // namespace

bool WriteChunk::add(const fabric::Segment& segment) {
  if (count == target.size()) return false;
  target[count++] = segment;
  return true;
}

std::uint64_t WriteChunk::length() const {
  std::uint64_t sum = 0;
  for (const auto& segment : segments()) sum += segment.length;
  return sum;
}

void ChunkLists::reset() {
  read_count = 0;
  write_count = 0;
  has_reply = false;
  rdma_reply.count = 0;
}

bool ChunkLists::add_read(std::uint32_t position, const fabric::Segment& segment) {
  if (read_count == read_entries.size()) return false;
  read_entries[read_count++] = ReadSegment{position, segment};
  return true;
}

WriteChunk* ChunkLists::add_write() {
  if (write_count == write_entries.size()) return nullptr;
  WriteChunk& chunk = write_entries[write_count++];
  chunk.count = 0;
  return &chunk;
}

std::optional<std::uint64_t> ChunkLists::read_chunk_length(std::uint32_t position) const {
  std::optional<std::uint64_t> sum;
  for (const auto& entry : rdma_reads()) {
    if (entry.position == position) sum = sum.value_or(0) + entry.target.length;
  }
  return sum;
}

std::size_t encoded_size(const ChunkLists& lists) {
  std::size_t size = kChunkListsMin + lists.read_count * kReadSegmentSize;
  for (const auto& chunk : lists.rdma_writes()) {
    size += kWriteChunkHead + chunk.count * kSegmentSize;
  }
  if (lists.has_reply) size += kReplyChunkHead + lists.rdma_reply.count * kSegmentSize;
  return size;
}

void encode_chunk_lists(xdr::Encoder& out, const ChunkLists& lists) {
  for (const auto& entry : lists.rdma_reads()) {
    out.boolean(true);
    out.u32(entry.position);
    encode_segment(out, entry.target);
  }
  out.boolean(false);
  for (const auto& chunk : lists.rdma_writes()) {
    out.boolean(true);
    encode_write_chunk(out, chunk);
  }
  out.boolean(false);
  out.boolean(lists.has_reply);
  if (lists.has_reply) encode_write_chunk(out, lists.rdma_reply);
}

void decode_chunk_lists(xdr::Decoder& in, ChunkLists& lists) {
  lists.reset();
  decode_read_list(in, lists);
  decode_write_list(in, lists);
  lists.has_reply = in.boolean("Reply chunk") && in.ok();
  if (lists.has_reply) decode_write_chunk(in, lists.rdma_reply);
}

}  // namespace nfsrdma::rdma
