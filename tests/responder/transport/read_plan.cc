#include "tests/responder/transport/read_plan.h"

#include <algorithm>

namespace nfsrdma::responder {
namespace {

/// Chunks start on such a boundary of the buffer, so that their data is aligned.
constexpr std::size_t kAlignment = 64;

constexpr std::size_t align(std::size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

ReadPlan::Chunk* ReadPlan::chunk_at(std::uint32_t position) {
  for (auto& chunk : chunks()) {
    if (chunk.position == position) return &chunk;
  }
  if (count_ == kMaxChunks) return nullptr;
  chunks_[count_] = Chunk{position, 0, 0, 0};
  return &chunks_[count_++];
}

bool ReadPlan::lay_out(std::span<const rdma::ReadSegment> segments, const ReadLimits& limits) {
  count_ = 0;
  item_count_ = 0;
  total_ = 0;
  for (const auto& segment : segments) {
    Chunk* chunk = chunk_at(segment.position);
    if (!chunk) return false;
    chunk->length += segment.target.length;
    if (chunk->length > limits.chunk) return false;
  }
  std::sort(chunks_.begin(), chunks_.begin() + count_,
            [](const Chunk& a, const Chunk& b) { return a.position < b.position; });
  for (auto& chunk : chunks()) {
    chunk.begin = align(total_);
    total_ = chunk.begin + chunk.length;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Chunk* chunk = chunk_at(segments[i].position);
    places_[i] = chunk->begin + chunk->filled;
    chunk->filled += segments[i].target.length;
  }
  return total_ <= limits.total;
}

std::span<const std::byte> ReadPlan::long_call(std::span<const std::byte> buffer) const {
  return buffer.subspan(chunks_[0].begin, chunks_[0].length);
}

bool ReadPlan::place_items(std::span<const std::byte> buffer, std::size_t stream_size) {
  std::size_t left_out = 0;  // bytes of the unreduced stream that earlier chunks stand for
  std::size_t previous_end = 0;
  for (const auto& chunk : chunks()) {
    if (chunk.position == 0) continue;
    if (chunk.position < previous_end || chunk.position - left_out > stream_size) return false;
    items_[item_count_++] =
        xdr::PlacedItem{chunk.position - left_out, buffer.subspan(chunk.begin, chunk.length),
                        chunk.length % xdr::kUnit == 0};
    left_out += xdr::padded(chunk.length);
    previous_end = chunk.position + xdr::padded(chunk.length);
  }
  return true;
}

}  // namespace nfsrdma::responder
