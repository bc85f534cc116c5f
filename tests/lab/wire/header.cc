#include "tests/lab/wire/header.h"

namespace nfsrdma::lab {
namespace {

void put32(Bytes& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::byte>(value >> shift));
}

void put(Bytes& out, const fabric::Segment& segment) {
  put32(out, segment.handle);
  put32(out, segment.length);
  put32(out, static_cast<std::uint32_t>(segment.offset >> 32));
  put32(out, static_cast<std::uint32_t>(segment.offset));
}

void put(Bytes& out, const Chunk& chunk) {
  put32(out, static_cast<std::uint32_t>(chunk.size()));
  for (const auto& segment : chunk) put(out, segment);
}

fabric::Segment get_segment(xdr::Decoder& in) {
  fabric::Segment segment;
  segment.handle = in.u32("handle");
  segment.length = in.u32("length");
  segment.offset = in.u64("offset");
  return segment;
}

Chunk get_chunk(xdr::Decoder& in) {
  Chunk chunk;
  const std::uint32_t count = in.count(kMaxListed, rdma::kSegmentSize, "segments");
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) chunk.push_back(get_segment(in));
  return chunk;
}

void get_lists(xdr::Decoder& in, WireHeader& header) {
  while (in.ok() && in.boolean("Read list") && header.reads.size() < kMaxListed) {
    const std::uint32_t position = in.u32("position");
    header.reads.push_back({position, get_segment(in)});
  }
  while (in.ok() && in.boolean("Write list") && header.writes.size() < kMaxListed) {
    header.writes.push_back(get_chunk(in));
  }
  if (in.ok() && in.boolean("Reply chunk")) header.reply = get_chunk(in);
}

}  // namespace

Bytes encode_header(const WireHeader& header) {
  Bytes out;
  for (const auto word : {header.xid, header.version, header.credit, header.proc}) put32(out, word);
  if (header.proc == rdma::RDMA_ERROR) {
    put32(out, header.error);
    if (header.error != rdma::ERR_VERS) return out;
    put32(out, header.lowest);
    put32(out, header.highest);
    return out;
  }
  for (const ReadEntry& entry : header.reads) {
    put32(out, 1);
    put32(out, entry.position);
    put(out, entry.segment);
  }
  put32(out, 0);
  for (const Chunk& chunk : header.writes) {
    put32(out, 1);
    put(out, chunk);
  }
  put32(out, 0);
  put32(out, header.reply ? 1 : 0);
  if (header.reply) put(out, *header.reply);
  return out;
}

bool decode_header(std::span<const std::byte> message, WireHeader& header) {
  xdr::Decoder in(message);
  header = {};
  header.xid = in.u32("xid");
  header.version = in.u32("vers");
  header.credit = in.u32("credit");
  header.proc = in.u32("proc");
  if (header.proc == rdma::RDMA_ERROR) {
    header.error = in.u32("error");
    if (header.error == rdma::ERR_VERS) {
      header.lowest = in.u32("low");
      header.highest = in.u32("high");
    }
  } else if (in.ok() && header.proc <= rdma::RDMA_NOMSG) {
    get_lists(in, header);
  }
  header.size = in.offset();
  return in.ok();
}

}  // namespace nfsrdma::lab
