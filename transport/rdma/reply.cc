#include "transport/rdma/reply.h"

#include "transport/rpc/message.h"

namespace nfsrdma::rdma {
namespace {

using Length = tl::expected<std::size_t, const char*>;

tl::unexpected<const char*> bad(const char* what) { return tl::unexpected<const char*>(what); }

/// Bytes written into a returned chunk. The segments are those offered, in their order
/// (V1-3.4.6-4, -5), and filled without a gap (V1-3.4.6-3).
Length written(const WriteChunk& returned, const LeaseSet& leases, std::size_t from,
               std::size_t to) {
  if (returned.count != to - from) return bad("segment count differs");
  std::size_t sum = 0;
  bool short_segment = false;
  for (std::size_t i = 0; i < returned.count; ++i) {
    const auto& offered = leases.segment(from + i);
    const auto& segment = returned.target[i];
    if (segment.handle != offered.handle || segment.offset != offered.offset) {
      return bad("segment is not the one that was offered");
    }
    if (segment.length > offered.length) return bad("segment is longer than offered");
    if (short_segment && segment.length > 0) return bad("gap between segments");
    short_segment |= segment.length < offered.length;
    sum += segment.length;
  }
  return sum;
}

/// An empty chunk in the place of an offered one means the same as an unused one (F-5).
Length check_write_list(const ChunkLists& lists, const CallContext& context) {
  const std::size_t offered = context.plan.write_chunk ? 1 : 0;
  if (lists.write_count != offered) return bad("Write list has another length");
  if (offered == 0 || lists.write_entries[0].count == 0) return std::size_t{0};
  return written(lists.write_entries[0], context.leases, context.write_from, context.reply_from);
}

Length check_reply_chunk(const ChunkLists& lists, const CallContext& context) {
  if (!lists.has_reply) return std::size_t{0};
  if (context.plan.reply_chunk == 0) return bad("Reply chunk that was not offered");
  return written(lists.rdma_reply, context.leases, context.reply_from, context.leases.count());
}

}  // namespace

tl::expected<ReplyShape, const char*> check_reply(const Header& header,
                                                  const CallContext& context) {
  if (header.chunks.read_count != 0) return bad("Read list in a reply");
  const Length placed = check_write_list(header.chunks, context);
  if (!placed) return bad(placed.error());
  const Length in_reply_chunk = check_reply_chunk(header.chunks, context);
  if (!in_reply_chunk) return bad(in_reply_chunk.error());

  ReplyShape shape;
  if (context.plan.write_chunk) shape.placed = *placed;
  if (header.proc == RDMA_NOMSG) {
    if (*in_reply_chunk == 0) return bad("RDMA_NOMSG without a filled Reply chunk");
    shape.long_reply = *in_reply_chunk;
  }
  return shape;
}

namespace {

bool is_chunk_placed(const WriteChunk& returned, const CallContext& context, std::size_t from,
                     const fabric::Endpoint& endpoint) {
  for (std::size_t i = 0; i < returned.count; ++i) {
    if (!context.leases.has_placed(endpoint, from + i, returned.target[i].length)) return false;
  }
  return true;
}

}  // namespace

bool is_placed(const Header& header, const CallContext& context, const fabric::Endpoint& endpoint) {
  const ChunkLists& lists = header.chunks;
  if (lists.write_count > 0 &&
      !is_chunk_placed(lists.write_entries[0], context, context.write_from, endpoint)) {
    return false;
  }
  // A Reply chunk beside an inline message holds nothing that is looked at, whatever it claims.
  return header.proc != RDMA_NOMSG ||
         is_chunk_placed(lists.rdma_reply, context, context.reply_from, endpoint);
}

namespace {

std::span<const std::byte> rpc_message(const CallContext& context) {
  if (!context.shape.long_reply) return context.inline_message;
  return context.reply_chunk->first(*context.shape.long_reply);
}

/// An offered chunk that came back unused still claims its result: an eligible result that travels
/// inline nevertheless is then a decode fault (V1-4.3.2-2, V1-6.1-7). Servers must not place the
/// item's pad (V1-3.4.6-9); those that do, and count it, are understood.
void attach_placed_result(CallContext& context, Message& message, xdr::Decoder& results) {
  if (!context.shape.placed) return;
  message.placed[0] = {.data = context.call->placement().first(*context.shape.placed),
                       .pad_included = true};
  results.place_in_order({message.placed.data(), 1});
}

}  // namespace

Result<rpc::Reply> decode_reply(CallContext& context) {
  rpc::Reply reply;
  reply.results = xdr::Decoder(rpc_message(context));
  attach_placed_result(context, static_cast<Message&>(*context.message), reply.results);
  TRY(rpc::decode_reply_header(reply.results, context.call->xid));
  if (context.shape.long_reply) reply.reply_chunk = std::move(context.reply_chunk);
  reply.message = std::move(context.message);
  return reply;
}

}  // namespace nfsrdma::rdma
