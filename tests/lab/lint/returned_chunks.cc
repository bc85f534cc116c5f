#include "tests/lab/lint/returned_chunks.h"

#include <fmt/format.h>

#include <algorithm>

namespace nfsrdma::lab {
namespace {

using Seen = std::optional<std::string>;

/// Segments of a chunk as offered, in order.
std::vector<const Offer*> offered(const RpcCall& call, Offer::Kind kind, std::uint32_t chunk) {
  std::vector<const Offer*> found;
  for (const Offer& offer : call.offers) {
    if (offer.kind() != kind || (kind == Offer::Kind::write && offer.place() != chunk)) continue;
    found.push_back(&offer);
  }
  return found;
}

/// Calls visit(name, offers, returned) for each chunk that was offered and returned; ends with the
/// first that something is seen of.
template <class Visit>
Seen for_each_chunk(const MessageEvent& event, Visit visit) {
  const RpcCall& call = *event.seen.call;
  const rdma::ChunkLists& chunks = event.seen.header->chunks;
  for (std::uint32_t i = 0; i < std::min(call.write_chunks, chunks.write_count); ++i) {
    const auto seen = visit(fmt::format("Write chunk {}", i), offered(call, Offer::Kind::write, i),
                            chunks.write_entries[i]);
    if (seen) return seen;
  }
  if (!call.reply_chunk || !chunks.has_reply) return {};
  return visit(std::string("the Reply chunk"), offered(call, Offer::Kind::reply, 0),
               chunks.rdma_reply);
}

/// The same for each segment of those.
template <class Visit>
Seen for_each_segment(const MessageEvent& event, Visit visit) {
  return for_each_chunk(
      event,
      [&](const std::string& name, const auto& offers, const rdma::WriteChunk& returned) -> Seen {
        for (std::size_t i = 0; i < std::min<std::size_t>(offers.size(), returned.count); ++i) {
          const auto seen =
              visit(fmt::format("segment {} of {}", i, name), *offers[i], returned.target[i]);
          if (seen) return seen;
        }
        return {};
      });
}

}  // namespace

Seen missing_write_chunks(const MessageEvent& event) {
  const std::uint32_t returned = event.seen.header->chunks.write_count;
  if (returned == event.seen.call->write_chunks) return {};
  return fmt::format("{} Write chunks, the call has {}", returned, event.seen.call->write_chunks);
}

Seen changed_segments(const MessageEvent& event) {
  const auto count = for_each_chunk(
      event, [](const std::string& name, const auto& offers, const rdma::WriteChunk& returned) {
        // An empty chunk stands for one that was not needed, too (RFC 8267 section 6.4.1).
        const bool unused = std::all_of(offers.begin(), offers.end(),
                                        [](const Offer* offer) { return offer->end() == 0; });
        if (returned.count == offers.size() || (returned.count == 0 && unused)) return Seen();
        return Seen(
            fmt::format("{} has {} segments, offered are {}", name, returned.count, offers.size()));
      });
  if (count) return count;
  return for_each_segment(
      event, [](const std::string& name, const Offer& offer, const fabric::Segment& returned) {
        const auto& segment = offer.segment();
        if (segment.handle == returned.handle && segment.offset == returned.offset) return Seen();
        return Seen(
            fmt::format("{} has handle {:#010x} and offset {:#x}, offered are {:#010x} and {:#x}",
                        name, returned.handle, returned.offset, segment.handle, segment.offset));
      });
}

Seen longer_than_offered(const MessageEvent& event) {
  return for_each_segment(
      event, [](const std::string& name, const Offer& offer, const fabric::Segment& returned) {
        if (returned.length <= offer.segment().length) return Seen();
        return Seen(fmt::format("{}: {} bytes, offered are {}", name, returned.length,
                                offer.segment().length));
      });
}

Seen other_than_written(const MessageEvent& event) {
  return for_each_segment(event, [](const std::string& name, const Offer& offer,
                                    const fabric::Segment& returned) {
    if (returned.length > offer.segment().length || returned.length == offer.end()) return Seen();
    return Seen(fmt::format("{}: {} bytes, written were {}", name, returned.length, offer.end()));
  });
}

Seen holes_between_segments(const MessageEvent& event) {
  return for_each_chunk(
      event, [](const std::string& name, const auto& offers, const rdma::WriteChunk& returned) {
        for (std::size_t i = 1; i < std::min<std::size_t>(offers.size(), returned.count); ++i) {
          const std::uint32_t room = offers[i - 1]->segment().length;
          if (returned.target[i].length == 0 || returned.target[i - 1].length >= room) continue;
          return Seen(fmt::format("segment {} of {} is used, the one before has {} of {} bytes", i,
                                  name, returned.target[i - 1].length, room));
        }
        return Seen();
      });
}

Seen reply_chunk_not_returned(const MessageEvent& event) {
  const bool returned = event.seen.header->chunks.has_reply;
  if (returned == event.seen.call->reply_chunk) return {};
  return returned ? "a Reply chunk that was not offered" : "no Reply chunk";
}

}  // namespace nfsrdma::lab
