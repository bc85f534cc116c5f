#include "tests/lab/rerun/reduced_world.h"

#include <fmt/format.h>
#include <linux/fuse.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fuse/channel/opcode.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Body;
using journal::Kind;

/// What of these was seen in the recording at about the same place is seen again.
constexpr std::array<std::string_view, 6> kSeenAgain = {"create verifier", "/proc/PID/status",
                                                        "process is gone", "life of a process",
                                                        "secret name",     "room of a reply"};
/// Threads that are told to end have ended.
constexpr std::array<std::string_view, 2> kTrue = {"the dropping thread has ended",
                                                   "the looking thread has ended"};

std::uint32_t first_word(std::span<const std::byte> body) {
  xdr::Decoder in(body);
  return in.u32("word");
}

struct AnswerParts {
  std::uint64_t unique = 0;
  std::int32_t error = 0;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
  std::span<const std::byte> body;
};

AnswerParts parts_of(std::span<const std::byte> answer) {
  xdr::Decoder in(answer);
  AnswerParts parts;
  parts.unique = in.u64("unique");
  parts.error = static_cast<std::int32_t>(in.u32("error"));
  parts.size = in.u64("size");
  parts.hash = in.u64("hash");
  if (in.remaining() > 0) parts.body = in.opaque(kLongestBody, "body");
  return parts;
}

Body& add_loss(Body& body) {
  body.u32(static_cast<std::uint32_t>(Layer::fabric)).u32(0);
  return body.string("")
      .string("the connection of a reduced run breaks")
      .u32(0)
      .u32(Error::kNoSlot);
}

}  // namespace

ReducedWorld::ReducedWorld(const Recording& recording, Playback& prefix,
                           std::function<void(const std::string&, bool)> on_line)
    : recording_(recording), prefix_(prefix), on_line_(std::move(on_line)), calls_(recording) {
  for (std::size_t i = 0; i < recording.entries.size(); ++i) {
    const Entry& entry = recording.entries[i];
    xdr::Decoder in(entry.body);
    if (entry.kind == Kind::answer) answers_[in.u64("unique")] = {i, entry.body};
    if (entry.kind == Kind::seen) looks_[std::string(in.string(SIZE_MAX, "what"))].push_back(i);
    if (entry.kind == Kind::channel_up && limits_.empty()) {
      connection_ = in.u32("connection");
      limits_ = entry.body.subspan(xdr::kUnit);
    }
  }
}

void ReducedWorld::become_loose(std::size_t place) {
  loose_ = true;
  go_to(place, place + 1);
  // What was asked before has its answer behind this place.
  std::set<CallPlace> open;
  for (std::size_t i = 0; i < recording_.entries.size(); ++i) {
    const Entry& entry = recording_.entries[i];
    if (entry.kind != Kind::call && entry.kind != Kind::call_done) continue;
    const CallPlace call = place_of_call(entry.body);
    if (entry.kind == Kind::call && i < place) open.insert(call);
    if (entry.kind == Kind::call_done && open.erase(call) != 0 && i >= place) {
      queue(entry.kind, entry.body);
    }
  }
}

std::optional<MadeEntry> ReducedWorld::take() {
  const auto found =
      std::ranges::find_if(queue_, [this](const MadeEntry& each) { return each.due < next_; });
  if (found == queue_.end()) return std::nullopt;
  MadeEntry next = std::move(*found);
  queue_.erase(found);
  if (next.kind == Kind::call_done) note_end(next.body);
  return next;
}

void ReducedWorld::note_end(std::span<const std::byte> body) {
  const auto key = keys_.extract(place_of_call(body));
  if (key) note(fmt::format("  end of call key {:016x}", key.mapped()), false);
}

void ReducedWorld::queue(Kind kind, std::span<const std::byte> body) {
  queue_.push_back({kind, {body.begin(), body.end()}});
}

std::optional<MadeEntry> ReducedWorld::request(const Entry& entry) {
  xdr::Decoder in(entry.body);
  auto made = ids_.translate(in.opaque(kLongestBody, "message"));
  if (!made) return std::nullopt;
  fuse_in_header header{};
  std::memcpy(&header, made->data(), sizeof header);
  opcodes_[header.unique] = header.opcode;
  note(fmt::format("{} of inode {}", fuse::opcode_name(header.opcode), header.nodeid), false);
  const Body body = std::move(Body().opaque(*made));
  return MadeEntry{Kind::request, {body.bytes().begin(), body.bytes().end()}};
}

std::optional<MadeEntry> ReducedWorld::callback(const Entry& entry) {
  if (connection_ == 0) return std::nullopt;
  xdr::Decoder in(entry.body);
  in.u64("place");
  const auto recorded = in.opaque(kLongestBody, "message");
  std::vector<std::byte> message(recorded.begin(), recorded.end());
  xdr::Decoder call(message);
  if (!rpc::decode_call_header(call)) return std::nullopt;
  constexpr std::size_t kSessionId = 16;
  call.opaque(SIZE_MAX, "tag");
  for (const char* word : {"minor version", "ident", "operations", "operation"}) call.u32(word);
  call.fixed(kSessionId, "session id");
  const std::size_t at = call.offset();
  const std::uint32_t said = call.u32("sequence");
  const std::uint32_t slot = call.u32("slot");
  if (!call.ok()) return std::nullopt;
  const auto [last, first] = callback_sequences_.try_emplace(slot, said);
  if (!first) ++last->second;
  std::ranges::copy(Body().u32(last->second).bytes(), message.begin() + static_cast<long>(at));
  note("callback", false);
  const Body body = std::move(Body().u32(connection_).u32(++callbacks_).opaque(message));
  return MadeEntry{Kind::callback, {body.bytes().begin(), body.bytes().end()}};
}

void ReducedWorld::break_connection() {
  note("the connection breaks", false);
  if (connection_ != 0) take_down(connection_);
}

void ReducedWorld::give(Kind kind, const Body& given) {
  if (!loose_) return prefix_.give(kind, given);
  const auto body = given.bytes();
  switch (kind) {
    case Kind::call: return give_call(body);
    case Kind::answer: return give_answer(body);
    case Kind::connect: return connect(first_word(body));
    case Kind::close: return take_down(first_word(body));
    case Kind::waking_call: return queue(Kind::woken, body);
    case Kind::name_asked: return answer_question(body);
    case Kind::callback_answer: return note("  answer to a callback", false);
    default: return;
  }
}

void ReducedWorld::give_call(std::span<const std::byte> body) {
  const auto call = read_call(body);
  if (!call) damaged("a call that is no COMPOUND");
  // When the lease is renewed depends on what else there is to send.
  if (!call->empty) {
    const bool known = calls_.has(call->key);
    note(fmt::format("  call {} key {:016x}", call->words, call->key), !known);
    keys_[place_of_call(body)] = call->key;
  }
  RecordedCalls::End end = calls_.answer(body, place_);
  const bool under_way = end.call < next_ && end.end > next_;
  queue_.push_back({Kind::call_done, std::move(end.done), under_way ? end.end : 0});
}

void ReducedWorld::give_answer(std::span<const std::byte> body) {
  const AnswerParts made = parts_of(body);
  const auto asked = opcodes_.extract(made.unique);
  const std::uint32_t opcode = asked ? asked.mapped() : 0;
  const bool data = asked && made.body.empty() && made.size > 0;
  std::string line = fmt::format("  answer to {}: errno {}, {} bytes", fuse::opcode_name(opcode),
                                 made.error, made.size);
  if (data) line += fmt::format(" with hash {:016x}", made.hash);
  bool odd = false;
  if (const auto found = answers_.find(made.unique); found != answers_.end()) {
    const AnswerParts recorded = parts_of(found->second.body);
    odd = recorded.error != made.error || (data && recorded.hash != made.hash);
    if (made.error == 0 && recorded.error == 0) ids_.learn(opcode, recorded.body, made.body);
  }
  note(std::move(line), odd);
}

void ReducedWorld::answer_question(std::span<const std::byte> body) {
  const std::uint32_t number = first_word(body);
  std::uint32_t there = 0;
  for (const Entry& entry : recording_.entries) {
    if (entry.kind == Kind::name_asked &&
        std::ranges::equal(entry.body.subspan(xdr::kUnit), body.subspan(xdr::kUnit))) {
      there = first_word(entry.body);
    }
    if (entry.kind != Kind::name_found || there == 0 || first_word(entry.body) != there) continue;
    queue(Kind::name_found, entry.body);
    std::ranges::copy(Body().u32(number).bytes(), queue_.back().body.begin());
    return;
  }
  queue(Kind::name_found, Body().u32(number).u32(0).u32(0).bytes());
}

void ReducedWorld::connect(std::uint32_t connection) {
  note("  attempt to connect", false);
  connection_ = connection;
  Body up;
  up.u32(connection);
  queue(Kind::channel_up, up.bytes());
  auto& body = queue_.back().body;
  body.insert(body.end(), limits_.begin(), limits_.end());
}

void ReducedWorld::take_down(std::uint32_t connection) {
  if (connection == connection_) connection_ = 0;
  Body down;
  add_loss(down.u32(connection));
  std::deque<MadeEntry> before = std::exchange(queue_, {});
  queue(Kind::channel_closing, down.bytes());
  for (MadeEntry& each : before) {
    if (each.kind != Kind::call_done || first_word(each.body) != connection) {
      if (each.kind != Kind::channel_up) queue_.push_back(std::move(each));
      continue;
    }
    xdr::Decoder in(each.body);
    in.u32("connection");
    Body lost;
    lost.u32(connection).u32(in.u32("number")).u32(1).u32(0).u32(0).u32(0);
    queue(Kind::call_done, add_loss(lost).bytes());
  }
  queue(Kind::channel_down, down.bytes());
}

std::size_t ReducedWorld::seen(const char* what, std::span<std::byte> memory, std::size_t size) {
  if (!loose_) return prefix_.seen(what, memory, size);
  const std::string_view name(what);
  if (std::ranges::find(kTrue, name) != kTrue.end()) memory[0] = std::byte{1};
  const auto found = looks_.find(name);
  if (std::ranges::find(kSeenAgain, name) == kSeenAgain.end() || found == looks_.end()) return size;
  auto best = std::ranges::lower_bound(found->second, place_);
  if (best == found->second.end()) --best;
  xdr::Decoder in(recording_.entries[*best].body);
  in.string(SIZE_MAX, "what");
  const auto bytes = in.opaque(memory.size(), "bytes");
  std::ranges::copy(bytes, memory.begin());
  return bytes.size();
}

}  // namespace nfsrdma::lab::rerun
