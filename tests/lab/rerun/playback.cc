#include "tests/lab/rerun/playback.h"

#include <algorithm>
#include <cstdlib>

#include "tests/lab/rerun/words.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {

using journal::Body;
using journal::Kind;

namespace {

/// Whether this input may come from within the giving out of that. All else comes by itself, and a
/// call cannot end while it is being submitted.
bool may_come_within(Kind given, Kind input) {
  if (input == Kind::name_found) return given == Kind::name_asked;
  return input == Kind::channel_closing && (given == Kind::close || given == Kind::callback_answer);
}

}  // namespace

const Entry* Playback::take_input() {
  if (over()) return nullptr;
  const Entry& entry = entries_[next_];
  if (!is_input(entry.kind) || entry.nested) differs({});
  if (entry.time < time_) damaged("time goes back");
  time_ = entry.time;
  ++next_;
  return &entry;
}

void Playback::give(Kind kind, const Body& body) {
  if (over()) return;
  const Entry& entry = entries_[next_];
  const bool same = entry.kind == kind && std::ranges::equal(entry.body, body.bytes());
  if (!same) differs(to_words({.kind = kind, .body = body.bytes()}));
  ++next_;
  while (!over() && entries_[next_].nested && may_come_within(kind, entries_[next_].kind)) {
    deliver(entries_[next_++]);
  }
}

std::size_t Playback::seen(const char* what, std::span<std::byte> memory, std::size_t size) {
  if (over()) return size;
  const Entry& entry = entries_[next_];
  xdr::Decoder in(entry.body);
  const bool same = entry.kind == Kind::seen && in.string(SIZE_MAX, "what") == what;
  if (!same) differs("look outside: " + std::string(what));
  const auto bytes = in.opaque(memory.size(), "bytes");
  if (!in.ok()) damaged("more was seen than there is room for");
  std::ranges::copy(bytes, memory.begin());
  ++next_;
  return bytes.size();
}

void Playback::differs(std::string made) {
  const Entry& entry = entries_[next_];
  on_difference_({next_ + 1, entry.time, to_words(entry), std::move(made)});
  std::abort();
}

void Playback::damaged(std::string_view why) {
  on_difference_({next_, {}, {}, "the recording is damaged: " + std::string(why)});
  std::abort();
}

}  // namespace nfsrdma::lab::rerun
