#include "tests/lab/capture/conversation.h"

#include <algorithm>

#include "tests/lab/capture/byte_view.h"
#include "transport/rdma/properties.h"
#include "transport/rpc/message.h"

namespace nfsrdma::lab {
namespace {

constexpr rdma::VersionRange kBothVersions{rdma::kVersionOne, rdma::kVersionTwo};
/// Calls that are looked at for one handle. Callers that are sane use each for one call.
constexpr std::size_t kMostOfOneHandle = 16;
constexpr std::size_t kTypeAt = 4;
constexpr std::size_t kReadChunksAtZero = 0;

std::uint64_t handle_key(Side owner, std::uint32_t handle) {
  return std::uint64_t{index_of(owner)} << 32 | handle;
}

/// A first guess, from the header and the first words behind it.
Direction direction_of(const rdma::Header& header, std::span<const std::byte> payload) {
  if (header.proc == rdma::RDMA_ERROR) return Direction::reply;
  if (header.proc == rdma::RDMA_NOMSG) {
    return header.chunks.read_chunk_length(kReadChunksAtZero) ? Direction::call : Direction::reply;
  }
  const ByteView view(payload);
  if (header.proc != rdma::RDMA_MSG || !view.has(kTypeAt + 4)) return Direction::none;
  const std::uint32_t type = view.u32(kTypeAt);
  if (type > 1) return Direction::none;
  return type == static_cast<std::uint32_t>(rpc::MessageType::call) ? Direction::call
                                                                    : Direction::reply;
}

void add_offers(const rdma::ChunkLists& chunks, Budget& budget, RpcCall& call) {
  for (const auto& entry : chunks.rdma_reads()) {
    call.offers.emplace_back(budget, Offer::Kind::read, entry.position, entry.target);
  }
  for (const auto& chunk : chunks.rdma_writes()) {
    for (const auto& segment : chunk.segments()) {
      call.offers.emplace_back(budget, Offer::Kind::write, call.write_chunks, segment);
    }
    ++call.write_chunks;
  }
  call.reply_chunk = chunks.has_reply;
  if (!chunks.has_reply) return;
  for (const auto& segment : chunks.rdma_reply.segments()) {
    call.offers.emplace_back(budget, Offer::Kind::reply, 0, segment);
  }
}

/// Program and versions, so that the reply can be decoded.
void note_rpc_header(std::span<const std::byte> message, RpcCall& call) {
  xdr::Decoder in(message);
  const auto header = rpc::decode_call_header(in);
  if (!header) return;
  call.program = header->program;
  call.program_version = header->version;
  call.procedure = header->procedure;
}

}  // namespace

rdma::Thresholds Conversation::thresholds() const {
  const auto& client = side(Side::client).private_data;
  const auto& server = side(Side::server).private_data;
  rdma::Thresholds agreed =
      rdma::agree(client.value_or(rdma::PrivateData()), server.value_or(rdma::PrivateData()));
  if (version_ < rdma::kVersionTwo) return agreed;
  agreed.call = std::max(agreed.call, side(Side::server).receive_size);
  agreed.reply = std::max(agreed.reply, side(Side::client).receive_size);
  return agreed;
}

void Conversation::on_startup(const Source& source, const iwarp::StartupFrame& frame) {
  observer_->on_startup(source, frame);
  sides_[index_of(source.from)].startup = frame;
}

void Conversation::on_private_data(const Source& source, std::span<const std::byte> data) {
  sides_[index_of(source.from)].private_data = rdma::decode_private_data(data);
}

void Conversation::on_segment(const SegmentSeen& segment) {
  observer_->on_segment(segment);
  sides_[index_of(segment.source.from)].has_sent = true;
}

RpcCall* Conversation::find(Side caller, std::uint32_t xid) const {
  const auto found = calls_.find({caller, xid});
  return found == calls_.end() ? nullptr : found->second.get();
}

void Conversation::on_send(const Source& source, std::span<const std::byte> message,
                           std::optional<std::uint32_t> invalidated) {
  if (message.empty()) return;  // the ready-to-receive message of RFC 6581
  xdr::Decoder in(message);
  rdma::Header header;
  MessageSeen seen;
  seen.source = source;
  seen.size = message.size();
  seen.header = &header;
  seen.fault = rdma::decode_header(in, header, kBothVersions);
  if (!in.ok()) seen.fault_text = in.error("header").message();
  seen.invalidated = invalidated;
  if (seen.fault == rdma::HeaderFault::none) {
    seen.payload = message.subspan(in.offset());
    seen.direction = direction_of(header, seen.payload);
    // An answered call has come first, although not all of it was read: its slot is in use.
    if (RpcCall* const answered = classify(seen)) tell_call(*answered, seen.source);
  }
  observer_->on_message(seen);
  if (seen.fault == rdma::HeaderFault::none) take_message(seen);
}

RpcCall* Conversation::classify(MessageSeen& seen) const {
  const ByteView payload(seen.payload);
  if (seen.header->proc == rdma::RDMA_MSG && payload.has(4)) seen.rpc_xid = payload.u32(0);
  const std::uint32_t xid = seen.header->rdma_xid;
  const Side from = seen.source.from;
  if (seen.direction == Direction::call) seen.xid_open = find(from, xid) != nullptr;
  if (seen.direction != Direction::reply) return nullptr;
  RpcCall* const call = find(other(from), xid);
  seen.call = call;
  seen.answered = seen.call == nullptr && std::find(answered_.begin(), answered_.end(),
                                                    CallKey{other(from), xid}) != answered_.end();
  return call;
}

void Conversation::take_message(const MessageSeen& seen) {
  SideState& sender = sides_[index_of(seen.source.from)];
  const rdma::Header& header = *seen.header;
  if (header.proc != rdma::RDMA_ERROR) version_ = std::max(version_, header.rdma_vers);
  if (version_ == rdma::kVersionTwo) {
    for (SideState& each : sides_) {
      each.receive_size = std::max<std::size_t>(each.receive_size, rdma::kMinReceiveBufferSize);
    }
  }
  if (header.proc == rdma::RDMA_OPTIONAL) return take_properties(seen);
  if (seen.direction == Direction::call) {
    sender.requested = header.rdma_credit;
    take_call(seen);
  } else if (seen.direction == Direction::reply) {
    if (seen.call != nullptr) sender.granted = std::max(header.rdma_credit, 1u);
    take_reply(seen);
  }
}

void Conversation::take_properties(const MessageSeen& seen) {
  const rdma::RdmaOptional& optional = seen.header->optional;
  rdma::OptInfo info;
  if (!rdma::is_property_operation(optional.rdma_opttype) ||
      optional.rdma_opttype == rdma::ROPT_REQPROP ||
      !rdma::decode_optinfo(optional.rdma_opttype, optional.rdma_optinfo, info)) {
    return;
  }
  SideState& sender = sides_[index_of(seen.source.from)];
  info.values.for_each([&](std::uint32_t, const rdma::propval& property) {
    xdr::Decoder in(property.pv_data);
    const auto value = rdma::property_value(property, in);
    if (value && property.pv_which == rdma::PROP_RBSIZ) {
      sender.receive_size = std::max<std::size_t>(sender.receive_size, *value);
    }
    if (value && property.pv_which == rdma::PROP_REQREMINV) {
      sender.wants_invalidation = *value != 0;
    }
  });
}

RpcCall& Conversation::open_call(Side caller, std::uint32_t xid) {
  const CallKey key{caller, xid};
  auto& place = calls_[key];
  if (place) {
    index_offers(*place, false);
  } else {
    order_.push_back(key);
    ++sides_[index_of(caller)].open;
  }
  place = std::make_unique<RpcCall>();
  place->xid = xid;
  if (order_.size() > kMostOpen) {
    lossy_ = true;
    end_call(order_.front().first, order_.front().second);
  }
  return *calls_.at(key);
}

void Conversation::take_call(const MessageSeen& seen) {
  RpcCall& call = open_call(seen.source.from, seen.header->rdma_xid);
  call.source = seen.source;
  call.version = seen.header->rdma_vers;
  call.message_size = seen.size;
  call.long_call = seen.header->proc == rdma::RDMA_NOMSG;
  call.payload.assign(seen.payload.begin(), seen.payload.end());
  add_offers(seen.header->chunks, budget_, call);
  index_offers(call, true);
  if (!call.has_reads()) tell_call(call, seen.source);
}

void Conversation::tell_call(RpcCall& call, const Source& source) {
  if (std::exchange(call.told, true)) return;
  const WholeMessage whole = whole_call(call);
  note_rpc_header(whole.bytes, call);
  const Source caller{source.at, call.source.from};
  observer_->on_rpc({caller, Direction::call, call.xid, &whole, &call, false});
}

void Conversation::tell_if_read(RpcCall& call, const Source& source) {
  const bool all = std::all_of(call.offers.begin(), call.offers.end(), [](const Offer& offer) {
    return offer.writable() || offer.seen_whole();
  });
  if (all) tell_call(call, source);
}

void Conversation::take_reply(const MessageSeen& seen) {
  RpcCall* call = find(other(seen.source.from), seen.header->rdma_xid);
  static const RpcCall kNone;
  if (seen.header->proc != rdma::RDMA_ERROR) {
    const WholeMessage whole =
        whole_reply(call != nullptr ? *call : kNone, *seen.header, seen.payload);
    observer_->on_rpc(
        {seen.source, Direction::reply, seen.header->rdma_xid, &whole, call, seen.answered});
  }
  if (call != nullptr) end_call(other(seen.source.from), call->xid);
}

void Conversation::index_offers(RpcCall& call, bool offered) {
  for (const Offer& offer : call.offers) {
    const std::uint64_t handle = handle_key(call.source.from, offer.segment().handle);
    auto [at, end] = offered_.equal_range(handle);
    while (at != end && at->second != &call) ++at;
    if (offered && at == end) offered_.emplace(handle, &call);
    if (!offered && at != end) offered_.erase(at);
  }
}

void Conversation::end_call(Side caller, std::uint32_t xid) {
  const CallKey key{caller, xid};
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  index_offers(*found->second, false);
  for (const Offer& offer : found->second->offers) {
    const std::uint64_t handle = handle_key(caller, offer.segment().handle);
    if (ended_handles_.insert_or_assign(handle, xid).second) ended_order_.push_back(handle);
  }
  while (ended_order_.size() > kMostRemembered) {
    ended_handles_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
  calls_.erase(found);
  order_.erase(std::find(order_.begin(), order_.end(), key));
  --sides_[index_of(caller)].open;
  answered_.push_back(key);
  if (answered_.size() > kMostRemembered) answered_.pop_front();
}

std::pair<RpcCall*, Offer*> Conversation::find_offer(Side owner, Place place,
                                                     std::uint64_t length) {
  std::pair<RpcCall*, Offer*> same_handle{nullptr, nullptr};
  auto [at, end] = offered_.equal_range(handle_key(owner, place.handle));
  for (std::size_t looked = 0; at != end && looked < kMostOfOneHandle; ++at, ++looked) {
    RpcCall& call = *at->second;
    for (Offer& offer : call.offers) {
      if (!offer.has_handle(place.handle)) continue;
      if (offer.covers(place.offset, length)) return {&call, &offer};
      same_handle = {&call, &offer};
    }
  }
  return same_handle;
}

TransferSeen Conversation::look_up(const Source& source, TransferSeen::Kind kind, Place place,
                                   std::uint64_t length) {
  TransferSeen seen;
  seen.source = source;
  seen.kind = kind;
  seen.place = place;
  seen.length = length;
  const Side owner = kind == TransferSeen::Kind::read_response ? source.from : other(source.from);
  const Offer* offer = find_offer(owner, place, length).second;
  seen.handle = offer;
  if (offer != nullptr && offer->covers(place.offset, length)) seen.offer = offer;
  const auto ended = ended_handles_.find(handle_key(owner, place.handle));
  if (offer == nullptr && ended != ended_handles_.end()) seen.ended_xid = ended->second;
  return seen;
}

void Conversation::on_write(const Source& source, Place to, std::span<const std::byte> data) {
  const TransferSeen seen = look_up(source, TransferSeen::Kind::write, to, data.size());
  observer_->on_transfer(seen);
  if (seen.offer == nullptr) return;
  find_offer(other(source.from), to, data.size()).second->keep(to.offset, data);
}

void Conversation::on_read_request(const Source& source, const iwarp::ReadRequest& request) {
  const Place place{request.source_stag, request.source_to};
  observer_->on_transfer(look_up(source, TransferSeen::Kind::read_request, place, request.size));
  if (request.size == 0) return;
  reads_.push_back({source.from, request, 0});
  ++sides_[index_of(source.from)].open_reads;
  if (reads_.size() > kMostReads) end_read(reads_.begin());
}

void Conversation::end_read(std::deque<OpenRead>::iterator read) {
  --sides_[index_of(read->reader)].open_reads;
  reads_.erase(read);
}

void Conversation::on_read_response(const Source& source, Place to,
                                    std::span<const std::byte> data) {
  const auto read = std::find_if(reads_.begin(), reads_.end(), [&](const OpenRead& open) {
    return open.reader == other(source.from) && open.request.sink_stag == to.handle &&
           to.offset >= open.request.sink_to &&
           to.offset - open.request.sink_to + data.size() <= open.request.size;
  });
  if (read == reads_.end()) {
    TransferSeen stray;
    stray.source = source;
    stray.kind = TransferSeen::Kind::read_response;
    stray.place = to;
    stray.length = data.size();
    stray.asked_for = false;
    return observer_->on_transfer(stray);
  }
  const Place place{read->request.source_stag,
                    read->request.source_to + (to.offset - read->request.sink_to)};
  observer_->on_transfer(look_up(source, TransferSeen::Kind::read_response, place, data.size()));
  read->received += data.size();
  if (read->received >= read->request.size) end_read(read);
  const auto [call, offer] = find_offer(source.from, place, data.size());
  if (offer == nullptr || !offer->covers(place.offset, data.size())) return;
  offer->keep(place.offset, data);
  tell_if_read(*call, source);
}

void Conversation::on_terminate(const Source& source, const std::string& why) {
  observer_->on_terminate(source, why);
}

void Conversation::on_nonsense(const Source& source, const char* what) {
  lossy_ = true;
  observer_->on_nonsense(source, what);
}

void Conversation::on_record(const Source& source, std::span<const std::byte> message) {
  const ByteView view(message);
  if (!view.has(kTypeAt + 4)) return observer_->on_nonsense(source, "a record too short for RPC");
  const std::uint32_t xid = view.u32(0);
  WholeMessage whole;
  whole.bytes.assign(message.begin(), message.end());
  if (view.u32(kTypeAt) == static_cast<std::uint32_t>(rpc::MessageType::call)) {
    RpcCall& call = open_call(source.from, xid);
    call.source = source;
    call.message_size = message.size();
    call.told = true;
    note_rpc_header(message, call);
    return observer_->on_rpc({source, Direction::call, xid, &whole, &call, false});
  }
  const CallKey key{other(source.from), xid};
  const bool answered = std::find(answered_.begin(), answered_.end(), key) != answered_.end();
  const RpcCall* call = find(key.first, xid);
  observer_->on_rpc({source, Direction::reply, xid, &whole, call, call == nullptr && answered});
  end_call(key.first, xid);
}

void Conversation::on_closed(Moment at) {
  for (const CallKey& key : order_) {
    RpcCall& call = *calls_.at(key);
    if (!call.told) tell_call(call, {at, key.first});
  }
  observer_->on_closed(at);
}

}  // namespace nfsrdma::lab
