#include "tests/lab/capture/whole_message.h"

#include <algorithm>
#include <map>

#include "tests/lab/capture/compound_seen.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_padded(Bytes& to, std::span<const std::byte> item) {
  append(to, item);
  to.resize(to.size() + xdr::pad_of(item.size()));
}

/// What a returned chunk holds: the bytes of each segment, as many as the reply says.
Bytes chunk_data(const RpcCall& call, Offer::Kind kind, std::uint32_t number,
                 const rdma::WriteChunk& returned, bool& complete) {
  Bytes data;
  std::size_t segment = 0;
  for (const Offer& offer : call.offers) {
    if (offer.kind() != kind || (kind == Offer::Kind::write && offer.place() != number)) continue;
    if (segment >= returned.count) break;
    const std::uint32_t length = returned.target[segment++].length;
    complete = complete && offer.data(length).size() == length;
    append(data, offer.data(length));
  }
  return data;
}

/// Puts items into the reduced stream, at places in ascending order.
Bytes insert_items(std::span<const std::byte> stream, const std::vector<PlacedAt>& places,
                   const std::vector<Bytes>& items) {
  Bytes whole;
  std::size_t done = 0;
  std::vector<bool> used(items.size());
  for (const PlacedAt& place : places) {
    append(whole, stream.subspan(done, place.offset - done));
    append_padded(whole, items[place.item]);
    done = place.offset;
    used[place.item] = true;
  }
  append(whole, stream.subspan(done));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!used[i]) append_padded(whole, items[i]);
  }
  return whole;
}

std::vector<PlacedAt> find_places(const RpcCall& call, std::span<const std::byte> stream,
                                  const std::vector<Bytes>& items, WholeMessage& whole) {
  std::vector<xdr::PlacedItem> placed;
  for (const Bytes& item : items) {
    placed.push_back({.data = item.empty() ? std::span<const std::byte>() : std::span(item)});
  }
  xdr::Decoder in(stream);
  in.place_in_order(placed);
  std::vector<PlacedAt> places;
  if (call.program != rpc::kNfsProgram || call.program_version != rpc::kNfsVersion4 ||
      call.procedure == nfs4::kProcNull || !rpc::decode_reply_header(in, call.xid)) {
    return places;
  }
  const CompoundResults results = decode_results(in, false, places);
  whole.inline_items = results.inline_items;
  whole.fault = results.fault;
  if (whole.fault.empty() && results.understood && !in.finish("results")) {
    whole.fault = "data was placed that no result accounts for";
  }
  return places;
}

}  // namespace

WholeMessage whole_call(const RpcCall& call) {
  // Positions are those of the unreduced stream: each chunk is put in behind those before it.
  std::map<std::uint32_t, Bytes> chunks;
  WholeMessage whole;
  for (const Offer& offer : call.offers) {
    if (offer.kind() != Offer::Kind::read) continue;
    const std::uint32_t length = offer.segment().length;
    whole.complete = whole.complete && offer.data(length).size() == length;
    append(chunks[offer.place()], offer.data(length));
  }
  Bytes stream = call.payload;
  if (call.long_call && chunks.contains(0)) {
    stream = std::move(chunks[0]);
    chunks.erase(0);
  }
  std::size_t done = 0;
  for (const auto& [position, data] : chunks) {
    const std::size_t wanted = position - std::min<std::size_t>(whole.bytes.size(), position);
    const std::size_t step = std::min(wanted, stream.size() - done);
    append(whole.bytes, std::span(stream).subspan(done, step));
    done += step;
    append_padded(whole.bytes, data);
  }
  append(whole.bytes, std::span(stream).subspan(done));
  return whole;
}

WholeMessage whole_reply(const RpcCall& call, const rdma::Header& header,
                         std::span<const std::byte> payload) {
  WholeMessage whole;
  Bytes stream(payload.begin(), payload.end());
  if (header.proc == rdma::RDMA_NOMSG) {
    stream = chunk_data(call, Offer::Kind::reply, 0, header.chunks.rdma_reply, whole.complete);
  }
  std::vector<Bytes> items;
  for (std::uint32_t i = 0; i < header.chunks.write_count; ++i) {
    items.push_back(
        chunk_data(call, Offer::Kind::write, i, header.chunks.write_entries[i], whole.complete));
  }
  const auto places = find_places(call, stream, items, whole);
  if (!whole.complete) whole.fault.clear();  // it may be what the capture has missed
  const auto filled =
      std::count_if(items.begin(), items.end(), [](const Bytes& item) { return !item.empty(); });
  whole.guessed = static_cast<std::size_t>(filled) != places.size();
  whole.bytes = insert_items(stream, places, items);
  return whole;
}

}  // namespace nfsrdma::lab
