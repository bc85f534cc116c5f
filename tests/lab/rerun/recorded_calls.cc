#include "tests/lab/rerun/recorded_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "client/proto/opnum.h"
#include "client/proto/status.h"
#include "tests/lab/text/node.h"
#include "tests/lab/text/operations.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Body;
using journal::Kind;

constexpr std::size_t kSessionId = 16;
/// Arguments of SEQUENCE: session id, sequence number, slot, highest slot, cachethis.
constexpr std::size_t kSequenceArguments = kSessionId + 4 * xdr::kUnit;
/// Where the message begins in the body of Kind::call_done that has a reply.
constexpr std::size_t kMessageInDone = 7 * xdr::kUnit;
/// More data beside a call is not shown in words.
constexpr std::size_t kMostShown = 4096;

std::uint32_t load(std::span<const std::byte> bytes, std::size_t at) {
  xdr::Decoder in(bytes.subspan(std::min(at, bytes.size())));
  return in.u32("word");
}

void store(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  const auto word = Body().u32(value);
  if (at + xdr::kUnit <= bytes.size()) std::ranges::copy(word.bytes(), bytes.begin() + at);
}

/// Of the operations behind SEQUENCE, or of all.
std::string words_of(std::span<const std::byte> compound, std::span<const xdr::PlacedItem> items,
                     bool whole) {
  xdr::Decoder in(compound);
  in.place_at_offsets(items);
  const Node all = decode_arguments(in);
  Node kept;
  for (std::size_t i = 0; i < all.items.size(); ++i) {
    const std::string& name = all.names[i];
    const bool of_transport = name == "tag" || name == "minorversion";
    if (!of_transport && (whole || name != "SEQUENCE")) kept.add(name, all.items[i]);
  }
  return to_text(kept);
}

/// What is known of the data that a call leaves out: zeros in its place, and its hash.
struct LeftOut {
  std::vector<std::byte> zeros;
  std::vector<xdr::PlacedItem> items;
  std::uint64_t hash = 0;
  std::size_t bytes = 0;
};

LeftOut read_left_out(xdr::Decoder& in, std::size_t arguments) {
  LeftOut left;
  std::array<std::pair<std::size_t, std::size_t>, xdr::Encoder::kMaxOmitted> places{};
  const std::uint32_t count = in.count(places.size(), 6 * xdr::kUnit, "items");
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t offset = in.u64("offset");
    const std::uint64_t size = std::min<std::uint64_t>(in.u64("size"), kLongestBody);
    places[i] = {offset - std::min<std::uint64_t>(offset, arguments), size};
    left.bytes += size;
    left.hash ^= in.u64("hash") + i;
  }
  if (left.bytes > kMostShown) return left;
  left.zeros.resize(left.bytes);
  std::size_t used = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto data = std::span<const std::byte>(left.zeros).subspan(used, places[i].second);
    left.items.push_back({.offset = places[i].first, .data = data});
    used += places[i].second;
  }
  return left;
}

std::vector<std::byte> refusal(const CallContent& call) {
  Body message;
  message.u32(call.xid).u32(static_cast<std::uint32_t>(rpc::MessageType::reply));
  for (int i = 0; i < 4; ++i) message.u32(0);  // accepted, no verifier, success
  const bool well = call.empty;
  message.u32(well ? nfs4::NFS4_OK : nfs4::NFS4ERR_IO).u32(0);
  message.u32((call.sequenced ? 1 : 0) + (well ? 0 : 1));
  if (call.sequenced) {
    message.u32(nfs4::OP_SEQUENCE).u32(nfs4::NFS4_OK);
    // Session id, sequence number, slot and highest slot as they were said; highest again, flags.
    for (std::size_t at = 0; at < kSessionId + 3 * xdr::kUnit; at += xdr::kUnit) {
      message.u32(load(call.sequence, at));
    }
    message.u32(load(call.sequence, kSessionId + 2 * xdr::kUnit)).u32(0);
  }
  if (!well) message.u32(call.operation).u32(nfs4::NFS4ERR_IO);
  return {message.bytes().begin(), message.bytes().end()};
}

/// Makes the answer of another call that of this one.
void adopt(std::vector<std::byte>& done, const CallContent& call) {
  store(done, kMessageInDone, call.xid);
  if (!call.sequenced) return;
  const std::size_t status = kMessageInDone + rpc::kAcceptedReplyHeader;
  const std::size_t tag = load(done, status + xdr::kUnit);
  const std::size_t first = status + 3 * xdr::kUnit + xdr::padded(std::min(tag, done.size()));
  if (load(done, first) != nfs4::OP_SEQUENCE || load(done, first + xdr::kUnit) != 0) return;
  const std::size_t results = first + 2 * xdr::kUnit;
  for (std::size_t at = 0; at < kSessionId + 2 * xdr::kUnit; at += xdr::kUnit) {
    store(done, results + at, load(call.sequence, at));
  }
}

}  // namespace

CallPlace place_of_call(std::span<const std::byte> body) {
  xdr::Decoder in(body);
  const std::uint32_t connection = in.u32("connection");
  return {connection, in.u32("number")};
}

std::optional<CallContent> read_call(std::span<const std::byte> body, bool whole) {
  xdr::Decoder in(body);
  in.raw(2 * xdr::kUnit, "place");
  const auto message = in.opaque(kLongestBody, "message");
  xdr::Decoder call(message);
  auto header = rpc::decode_call_header(call);
  if (!header) return std::nullopt;
  const auto compound = message.subspan(call.offset());
  const LeftOut left = read_left_out(in, call.offset());
  CallContent content;
  content.xid = header->xid;
  content.uid = header->credential.uid;
  call.opaque(kLongestBody, "tag");
  call.u32("minor version");
  const std::uint32_t operations = call.u32("operations");
  content.operation = call.u32("operation");
  content.sequenced = content.operation == nfs4::OP_SEQUENCE;
  if (content.sequenced) {
    content.sequence = call.raw(kSequenceArguments, "SEQUENCE");
    content.empty = operations == 1;
    content.operation = content.empty ? 0 : call.u32("operation");
  }
  if (!call.ok()) return std::nullopt;
  const auto rest = message.subspan(call.offset());
  content.key = journal::hash_of(
      rest, left.hash ^ content.operation ^ std::uint64_t{header->credential.uid} << 32);
  content.words = words_of(compound, left.items, whole);
  if (left.bytes > 0) content.words += fmt::format(" {} bytes of data", left.bytes);
  return content;
}

RecordedCalls::RecordedCalls(const Recording& recording) {
  std::map<CallPlace, std::pair<std::size_t, std::uint64_t>> open;
  for (std::size_t i = 0; i < recording.entries.size(); ++i) {
    const Entry& entry = recording.entries[i];
    if (entry.kind == Kind::call) {
      if (const auto call = read_call(entry.body)) open[place_of_call(entry.body)] = {i, call->key};
    } else if (entry.kind == Kind::call_done) {
      const auto found = open.extract(place_of_call(entry.body));
      const bool answered = load(entry.body, kMessageInDone - 2 * xdr::kUnit) != 0;
      if (found && answered) {
        known_[found.mapped().second].push_back({found.mapped().first, i, entry.body});
      }
    }
  }
  for (auto& [key, calls] : known_) {
    std::ranges::sort(calls, {}, &Known::entry);
  }
}

RecordedCalls::End RecordedCalls::answer(std::span<const std::byte> call_body,
                                         std::size_t entry) const {
  const CallPlace place = place_of_call(call_body);
  const auto call = read_call(call_body);
  const auto found = call ? known_.find(call->key) : known_.end();
  End end;
  if (found != known_.end()) {
    const auto& calls = found->second;
    auto best = std::ranges::lower_bound(calls, entry, {}, &Known::entry);
    if (best == calls.end()) --best;
    end = {{best->done.begin(), best->done.end()}, best->entry, best->end};
    adopt(end.done, *call);
  } else {
    Body made;
    for (int i = 0; i < 5; ++i) made.u32(0);  // the place, which follows, and no losses
    made.u32(1).opaque(refusal(call.value_or(CallContent()))).u32(0);
    end.done.assign(made.bytes().begin(), made.bytes().end());
  }
  store(end.done, 0, place.first);
  store(end.done, xdr::kUnit, place.second);
  return end;
}

}  // namespace nfsrdma::lab::rerun
