#include "tests/responder/transport/reply_plan.h"

#include <algorithm>

namespace nfsrdma::responder {
namespace {

/// The same segments with nothing in them.
void copy_unused(rdma::WriteChunk& to, const rdma::WriteChunk& from) {
  to.count = 0;
  for (const auto& segment : from.segments()) to.add({segment.handle, 0, segment.offset});
}

void copy_all_unused(rdma::ChunkLists& to, const rdma::ChunkLists& from) {
  to.reset();
  for (const auto& chunk : from.rdma_writes()) copy_unused(*to.add_write(), chunk);
  to.has_reply = from.has_reply;
  if (from.has_reply) copy_unused(to.rdma_reply, from.rdma_reply);
}

}  // namespace

std::span<const std::byte> ReplyPlan::pad_after(std::size_t length) const {
  return zeros_.first(xdr::pad_of(length));
}

bool ReplyPlan::make(const xdr::Encoder& results, const rdma::ChunkLists& call,
                     std::size_t threshold, const ReplyTwist& twist, rdma::Header& header) {
  transfer_count_ = 0;
  placed_.fill(false);
  copy_all_unused(header.chunks, call);
  if (!place_items(results, twist, header.chunks, call)) return false;
  gather(results);
  header.proc = rdma::RDMA_MSG;
  const auto header_bytes = rdma::header_size(header.chunks);
  if (header_bytes + inline_.size() <= threshold) return true;
  if (!call.has_reply || header_bytes > threshold) return false;
  header.proc = rdma::RDMA_NOMSG;
  const PieceList message = inline_;
  inline_.clear();
  return fill(header.chunks.rdma_reply, call.rdma_reply, message);
}

bool ReplyPlan::place_items(const xdr::Encoder& results, const ReplyTwist& twist,
                            rdma::ChunkLists& lists, const rdma::ChunkLists& call) {
  const auto items = results.omitted();
  if (twist.inline_result) return true;
  for (std::size_t i = 0; i < items.size() && i < call.write_count; ++i) {
    if (call.write_entries[i].count == 0) continue;
    PieceList content;
    content.add(items[i].data);
    if (twist.write_pad) content.add(pad_after(items[i].data.size()));
    if (!fill(lists.write_entries[i], call.write_entries[i], content)) return false;
    placed_[i] = true;
  }
  return true;
}

bool ReplyPlan::fill(rdma::WriteChunk& chunk, const rdma::WriteChunk& provided,
                     const PieceList& content) {
  if (content.size() > provided.length()) return false;
  std::size_t written = 0;
  for (std::uint32_t i = 0; i < provided.count && written < content.size(); ++i) {
    const auto& segment = provided.target[i];
    const auto length = std::min<std::size_t>(segment.length, content.size() - written);
    if (length == 0) continue;
    chunk.target[i].length = static_cast<std::uint32_t>(length);
    auto& transfer = transfers_[transfer_count_++];
    transfer.to = chunk.target[i];
    transfer.from = content.slice(written, length);
    written += length;
  }
  return true;
}

void ReplyPlan::gather(const xdr::Encoder& results) {
  inline_.clear();
  const auto stream = results.encoded();
  const auto items = results.omitted();
  std::size_t taken = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (placed_[i]) continue;
    inline_.add(stream.subspan(taken, items[i].offset - taken));
    inline_.add(items[i].data);
    inline_.add(pad_after(items[i].data.size()));
    taken = items[i].offset;
  }
  inline_.add(stream.subspan(taken));
}

}  // namespace nfsrdma::responder
