#include "transport/rdma/call_send.h"

#include <cassert>

#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {
namespace {

/// The provider's interface has one kind of span; memory exposed for remote reads is not written.
std::span<std::byte> readable(std::span<const std::byte> memory) {
  return {const_cast<std::byte*>(memory.data()), memory.size()};
}

Result<void> expose_arguments(Link& link, CallContext& context) {
  const std::size_t longest = link.options().max_segment_length;
  const auto& encoder = context.call->encoder;
  if (context.plan.long_call) {
    for (auto piece : payload_pieces(encoder, context.plan, context.zeros())) {
      TRY(context.leases.expose(link.endpoint(), readable(piece), fabric::Access::remote_read,
                                longest));
    }
  }
  for (std::size_t i = 0; i < encoder.omitted().size(); ++i) {
    if (!context.plan.is_reduced(i)) continue;
    TRY(context.leases.expose(link.endpoint(), readable(encoder.omitted()[i].data),
                              fabric::Access::remote_read, longest));
  }
  return {};
}

Result<void> expose_all(Link& link, CallContext& context) {
  const std::size_t longest = link.options().max_segment_length;
  TRY(expose_arguments(link, context));
  context.write_from = context.leases.count();
  if (context.plan.write_chunk) {
    TRY(context.leases.expose(link.endpoint(), context.call->placement(),
                              fabric::Access::remote_write, longest));
  }
  context.reply_from = context.leases.count();
  if (context.plan.reply_chunk > 0) {
    TRY(context.leases.expose(link.endpoint(), context.reply_chunk->first(context.plan.reply_chunk),
                              fabric::Access::remote_write, longest));
  }
  return {};
}

/// Fills the Read list from the leases, which stand in its order.
void describe_arguments(const CallContext& context, const Options& options, ChunkLists& lists) {
  std::size_t next = 0;
  auto add_chunk = [&](std::uint32_t position, std::size_t length) {
    for (std::size_t left = segments_of(length, options); left > 0; --left) {
      [[maybe_unused]] const bool fits = lists.add_read(position, context.leases.segment(next++));
      assert(fits && "the plan bounds the Read list");
    }
  };
  const auto& encoder = context.call->encoder;
  if (context.plan.long_call) {
    for (auto piece : payload_pieces(encoder, context.plan, context.zeros())) {
      add_chunk(0, piece.size());
    }
  }
  for (std::size_t i = 0; i < encoder.omitted().size(); ++i) {
    if (!context.plan.is_reduced(i)) continue;
    add_chunk(position_of(encoder.omitted(), i), encoder.omitted()[i].data.size());
  }
}

void describe_chunk(const CallContext& context, std::size_t from, std::size_t to,
                    WriteChunk& chunk) {
  chunk.count = 0;
  for (std::size_t i = from; i < to; ++i) chunk.add(context.leases.segment(i));
}

void describe(const CallContext& context, const Link& link, std::uint32_t credits, Header& header) {
  header.rdma_xid = context.call->xid;
  header.rdma_vers = link.version();
  header.rdma_credit = credits;
  header.proc = context.plan.long_call ? RDMA_NOMSG : RDMA_MSG;
  header.chunks.reset();
  describe_arguments(context, link.options(), header.chunks);
  if (context.plan.write_chunk) {
    describe_chunk(context, context.write_from, context.reply_from, *header.chunks.add_write());
  }
  header.chunks.has_reply = context.plan.reply_chunk > 0;
  if (header.chunks.has_reply) {
    describe_chunk(context, context.reply_from, context.leases.count(), header.chunks.rdma_reply);
  }
}

void count_arguments(const CallContext& context, std::size_t message_bytes, Counters& counters) {
  const auto items = context.call->encoder.omitted();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!context.plan.is_reduced(i)) continue;
    counters.read_chunks.add();
    counters.call_bytes_ddp.add(items[i].data.size());
  }
  if (context.plan.long_call) {
    counters.position_zero_chunks.add();
    counters.long_calls.add();
    counters.call_bytes_ddp.add(message_bytes);
  } else {
    counters.inline_calls.add();
    counters.call_bytes_inline.add(message_bytes);
  }
}

void count_call(const CallContext& context, std::size_t message_bytes, Counters& counters) {
  counters.sends.add();
  counters.leases.add(context.leases.count());
  if (context.plan.write_chunk) counters.write_chunks.add();
  if (context.plan.reply_chunk > 0) counters.reply_chunks.add();
  count_arguments(context, message_bytes, counters);
}

}  // namespace

Result<void> expose_memory(Link& link, CallContext& context) {
  auto exposed = expose_all(link, context);
  if (!exposed) context.leases.cancel(link.endpoint());
  return exposed;
}

void post_call(Link& link, CallContext& context, std::uint32_t credits, Header& scratch) {
  describe(context, link, credits, scratch);
  xdr::Encoder header(context.header_memory());
  encode_header(header, scratch);
  assert(header.ok() && "the header memory holds the longest header");

  const auto payload = payload_pieces(context.call->encoder, context.plan, context.zeros());
  std::array<std::span<const std::byte>, PayloadPieces::kMax + 1> pieces;
  std::size_t count = 0;
  pieces[count++] = header.encoded();
  if (!context.plan.long_call) {
    for (auto piece : payload) pieces[count++] = piece;
  }
  count_call(context, payload.length(), link.counters());
  fabric::SendWork work;
  work.pieces = {pieces.data(), count};
  work.leases = context.leases.list();
  work.context = static_cast<SendOwner*>(&context);
  work.answered = true;
  work.pace = context.call->pace;
  if (context.call->losses.total != 0) work.comment = rpc::kSentAgain;
  link.post(work, scratch.proc);
}

}  // namespace nfsrdma::rdma
