#include <algorithm>

#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;
using Strikes = void (*)(Strike&);

constexpr std::size_t kPiece = 64;
constexpr std::size_t kLongest = 65000;

wire::Segment write_to(std::uint32_t stag, std::uint64_t to, Frame payload) {
  wire::Segment segment;
  segment.tagged = true;
  segment.opcode = wire::kWrite;
  segment.stag = stag;
  segment.to = to;
  segment.payload = std::move(payload);
  return segment;
}
const fabric::Segment& lent(const Strike& s) { return s.offer.to_write.front(); }
void write_at(Strike& s, std::uint32_t stag, std::uint64_t to) {
  s.inject(write_to(stag, to, s.forbidden(kPiece)));
}

void below(Strike& s) { write_at(s, lent(s).handle, lent(s).offset - 1); }
void beyond_by_one(Strike& s) {
  write_at(s, lent(s).handle, lent(s).offset + lent(s).length - kPiece + 1);
}
void behind(Strike& s) { write_at(s, lent(s).handle, lent(s).offset + lent(s).length); }
void far_behind(Strike& s) { write_at(s, lent(s).handle, lent(s).offset + (1U << 20)); }
void at_zero(Strike& s) { write_at(s, lent(s).handle, 0); }
void wrapping(Strike& s) { write_at(s, lent(s).handle, ~std::uint64_t{0} - kPiece / 2); }
/// As long as the memory and a byte, or as long as a segment can be.
void too_long(Strike& s) {
  const std::size_t size = std::min<std::size_t>(lent(s).length + std::size_t{1}, kLongest);
  s.inject(write_to(lent(s).handle, lent(s).offset + lent(s).length + 1 - size, s.forbidden(size)));
}
void second_segment_beyond(Strike& s) {
  wire::Segment first = write_to(lent(s).handle, lent(s).offset, Frame(kPiece));
  first.last = false;
  s.inject(first);
  behind(s);
}
void other_key(Strike& s) { write_at(s, lent(s).handle ^ 1, lent(s).offset); }
void other_index(Strike& s) { write_at(s, lent(s).handle ^ 0x100, lent(s).offset); }
void stag_zero(Strike& s) { write_at(s, 0, lent(s).offset); }
void largest_stag(Strike& s) { write_at(s, ~0U, lent(s).offset); }
void to_read_only(Strike& s) {
  write_at(s, s.offer.to_read.front().handle, s.offer.to_read.front().offset);
}
template <bool SameConnection, std::size_t Back>
void to_older(Strike& s) {
  const Offer* older = s.before(SameConnection, Back);
  if (older) write_at(s, older->any().handle, older->any().offset);
}
void read_response_to_lease(Strike& s) {
  wire::Segment segment = write_to(lent(s).handle, lent(s).offset, s.forbidden(kPiece));
  segment.opcode = wire::kReadResponse;
  s.inject(segment);
}
/// No rule is broken: STag and offset of a Write of no bytes are not looked at.
void empty_write_anywhere(Strike& s) { s.inject(write_to(0x1234, 0x5678, {})); }

void none(Strike& s) { s.forward = false; }
void without_the_first(Strike& s) { s.forward = s.index != 0; }
void without_the_last_byte(Strike& s) {
  if (s.segment->last && !s.segment->payload.empty()) s.segment->payload.pop_back();
}
void half(Strike& s) {
  if (s.index == 0) s.segment->payload.resize(s.segment->payload.size() / 2);
}
void with_a_hole(Strike& s) {
  const Frame& payload = s.segment->payload;
  if (s.index != 0 || payload.size() < 3) return;
  const auto third = static_cast<std::ptrdiff_t>(payload.size() / 3);
  s.inject(write_to(s.segment->stag, s.segment->to, {payload.begin(), payload.begin() + third}));
  s.inject(write_to(s.segment->stag, s.segment->to + 2 * static_cast<std::uint64_t>(third),
                    {payload.begin() + 2 * third, payload.end()}));
  s.forward = false;
}
void from_the_second_byte(Strike& s) {
  if (s.index != 0 || s.segment->payload.empty()) return;
  s.segment->payload.erase(s.segment->payload.begin());
  ++s.segment->to;
}
/// RFC 5041 section 5.3 permits any order.
void backwards(Strike& s) {
  const Frame& payload = s.segment->payload;
  constexpr std::size_t kPieces = 20;  // more than are remembered behind gaps
  for (std::size_t i = kPieces; i-- > 0;) {
    const std::size_t from = payload.size() * i / kPieces;
    const std::size_t to = payload.size() * (i + 1) / kPieces;
    s.inject(write_to(s.segment->stag, s.segment->to + from,
                      {payload.begin() + static_cast<std::ptrdiff_t>(from),
                       payload.begin() + static_cast<std::ptrdiff_t>(to)}));
  }
  s.forward = false;
}
void twice(Strike& s) { s.inject(*s.segment); }
void overlapping(Strike& s) {
  const Frame& payload = s.segment->payload;
  const auto middle = static_cast<std::ptrdiff_t>(payload.size() / 2);
  s.inject(write_to(s.segment->stag, s.segment->to + payload.size() / 2,
                    {payload.begin() + middle, payload.end()}));
}
void other_data_first(Strike& s) {
  s.inject(write_to(s.segment->stag, s.segment->to, Frame(s.segment->payload.size())));
}
void other_data(Strike& s) { s.segment->payload.assign(s.segment->payload.size(), std::byte{7}); }
void never_last(Strike& s) { s.segment->last = false; }
void always_last(Strike& s) { s.segment->last = true; }
void wrong_crc(Strike& s) {
  Frame frame = wire::fpdu(*s.segment);
  frame.back() ^= std::byte{1};
  s.inject(frame);
  s.forward = false;
}
void cut(Strike& s) {
  Frame frame = wire::fpdu(*s.segment);
  frame.resize(frame.size() / 2);
  s.inject(frame);
  s.forward = false;
}
void cut_and_end(Strike& s) {
  cut(s);
  s.finish();
}
void cut_and_reset(Strike& s) {
  cut(s);
  s.reset();
}
void cut_and_silence(Strike& s) {
  cut(s);
  s.silence();
}
void late(Strike& s) { write_at(s, lent(s).handle, lent(s).offset); }
void late_and_empty(Strike& s) { s.inject(write_to(lent(s).handle, lent(s).offset, {})); }

struct Row {
  const char* name;
  At at;
  Needs needs;
  Strikes strike;
  bool deceives = false;
};

constexpr Row kRows[] = {
    {"a Write that begins a byte too early", At::call, Needs::to_write, below},
    {"a Write that ends a byte too late", At::call, Needs::to_write, beyond_by_one},
    {"a Write behind the memory", At::call, Needs::to_write, behind},
    {"a Write far behind the memory", At::call, Needs::to_write, far_behind},
    {"a Write at offset 0", At::call, Needs::to_write, at_zero},
    {"a Write whose offset wraps", At::call, Needs::to_write, wrapping},
    {"a Write of a byte too many", At::call, Needs::to_write, too_long},
    {"a Write whose second segment is outside", At::call, Needs::to_write, second_segment_beyond},
    {"a Write with another key", At::call, Needs::to_write, other_key},
    {"a Write with another index", At::call, Needs::to_write, other_index},
    {"a Write to STag 0", At::call, Needs::to_write, stag_zero},
    {"a Write to the largest STag", At::call, Needs::to_write, largest_stag},
    {"a Write to memory that may be read", At::call, Needs::to_read, to_read_only},
    {"a Write to memory of the call before", At::call, Needs::anything, to_older<true, 0>},
    {"a Write to memory of a call long ago", At::call, Needs::anything, to_older<true, 3>},
    {"a Write to memory of another connection", At::call, Needs::anything, to_older<false, 0>},
    {"a Read Response nobody asked for", At::call, Needs::to_write, read_response_to_lease},
    {"a Write of no bytes to anything", At::call, Needs::anything, empty_write_anywhere},
    {"no Write", At::write, Needs::to_write, none},
    {"no first segment", At::write, Needs::to_write, without_the_first},
    {"no last byte", At::write, Needs::to_write, without_the_last_byte},
    {"half of the first segment", At::write, Needs::to_write, half},
    {"a hole in a segment", At::write, Needs::to_write, with_a_hole},
    {"no first byte", At::write, Needs::to_write, from_the_second_byte},
    {"in pieces, the last first", At::write, Needs::to_write, backwards},
    {"each segment twice", At::write, Needs::to_write, twice},
    {"overlapping", At::write, Needs::to_write, overlapping},
    {"other data before the data", At::write, Needs::to_write, other_data_first},
    {"other data", At::write, Needs::to_write, other_data, true},
    {"no segment is the last", At::write, Needs::to_write, never_last},
    {"each segment is the last", At::write, Needs::to_write, always_last},
    {"a Write with a wrong CRC", At::write, Needs::to_write, wrong_crc},
    {"a Write cut, and something else", At::write, Needs::to_write, cut},
    {"a Write cut by FIN", At::write, Needs::to_write, cut_and_end},
    {"a Write cut by RST", At::write, Needs::to_write, cut_and_reset},
    {"a Write cut by silence", At::write, Needs::to_write, cut_and_silence},
    {"a Write behind the reply", At::after, Needs::to_write, late},
    {"a Write of no bytes behind the reply", At::after, Needs::to_write, late_and_empty},
    {"a Write beyond the memory before the reply", At::reply, Needs::to_write, behind},
};

}  // namespace

std::vector<WireAttack> attacks_by_writes() {
  std::vector<WireAttack> all;
  for (const Row& row : kRows)
    all.push_back({row.name, row.at, row.needs, row.strike, row.deceives});
  return all;
}

}  // namespace nfsrdma::hostile
