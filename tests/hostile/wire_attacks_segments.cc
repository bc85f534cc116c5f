#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;

constexpr std::uint32_t kSome = 16;
constexpr int kTooMany = 300;

wire::Segment send_of(std::size_t size) {
  wire::Segment segment;
  segment.msn = Strike::kNext;
  segment.payload.assign(size, std::byte{0});
  return segment;
}
/// An invalid reply of this many bytes.
template <std::size_t Size>
void send(Strike& s) {
  s.inject(send_of(Size));
}
void many_sends(Strike& s) {
  for (int i = 0; i < kTooMany; ++i) send<kSome>(s);
}
void many_bytes(Strike& s) {
  for (int i = 0; i < kTooMany; ++i) s.inject(Frame(kSome, std::byte{0xff}));
}

/// One field of the reply's segment replaced.
template <auto Field, auto Value>
void with(Strike& s) {
  s.segment->*Field = static_cast<std::remove_reference_t<decltype(s.segment->*Field)>>(Value);
}
template <auto Field, auto Value>
void before_it(Strike& s) {
  wire::Segment segment = send_of(kSome);
  segment.msn = 1;
  segment.*Field = static_cast<std::remove_reference_t<decltype(segment.*Field)>>(Value);
  s.inject(segment);
}
void ahead(Strike& s) {
  s.inject(*s.segment);
  s.segment->msn = 1U << 30;
}
void tagged(Strike& s) {
  s.segment->tagged = true;
  s.segment->stag = 0x1234;
}
void unfinished(Strike& s) { s.segment->last = false; }
std::pair<wire::Segment, wire::Segment> halves(const wire::Segment& whole) {
  std::pair<wire::Segment, wire::Segment> made{whole, whole};
  const auto middle = static_cast<std::ptrdiff_t>(whole.payload.size() / 2);
  made.first.last = false;
  made.first.payload.resize(static_cast<std::size_t>(middle));
  made.second.mo = static_cast<std::uint32_t>(middle);
  made.second.payload.assign(whole.payload.begin() + middle, whole.payload.end());
  return made;
}
/// No rule is broken.
void in_two(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(first);
  *s.segment = second;
}
void second_first(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(second);
  *s.segment = first;
}
void with_a_gap(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(first);
  *s.segment = second;
  ++s.segment->mo;
}
void with_an_overlap(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(first);
  *s.segment = second;
  s.segment->mo = 0;
}
void changing_opcode(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(first);
  *s.segment = second;
  s.segment->opcode = wire::kSendSolicited;
}
void a_write_between(Strike& s) {
  const auto [first, second] = halves(*s.segment);
  s.inject(first);
  wire::Segment write;
  write.tagged = true;
  write.opcode = wire::kWrite;
  s.inject(write);
  *s.segment = second;
}

void invalidating(Strike& s, std::uint32_t stag) {
  s.segment->opcode = wire::kSendInvalidate;
  s.segment->invalidate = stag;
}
void invalidates_nothing(Strike& s) { invalidating(s, 0); }
void invalidates_unknown(Strike& s) { invalidating(s, 0x00123456); }
void invalidates_other_key(Strike& s) { invalidating(s, s.offer.any().handle ^ 1); }
template <bool SameConnection>
void invalidates_older(Strike& s) {
  if (const Offer* older = s.before(SameConnection)) invalidating(s, older->any().handle);
}
void invalidates_read_memory(Strike& s) { invalidating(s, s.offer.to_read.front().handle); }
void invalidates_last(Strike& s) { invalidating(s, s.offer.to_write.back().handle); }
/// Before its data is written or read.
void invalidates_early(Strike& s) {
  wire::Segment segment = send_of(kSome);
  segment.opcode = wire::kSendInvalidate;
  segment.invalidate = s.offer.any().handle;
  s.inject(segment);
}

struct Row {
  const char* name;
  At at;
  Needs needs;
  void (*strike)(Strike&);
};

using S = wire::Segment;
constexpr Row kRows[] = {
    {"a Send of no bytes", At::reply, Needs::anything, send<0>},
    {"a Send of 4 bytes", At::reply, Needs::anything, send<4>},
    {"a Send of zeros", At::reply, Needs::anything, send<64>},
    {"a Send of a byte more than is taken", At::reply, Needs::anything, send<4097>},
    {"a Send of 60000 bytes", At::reply, Needs::anything, send<60000>},
    {"300 Sends", At::reply, Needs::anything, many_sends},
    {"bytes that are no FPDU", At::reply, Needs::anything, many_bytes},
    {"a message left out", At::reply, Needs::anything, with<&S::msn, 1U << 20>},
    {"message 0", At::reply, Needs::anything, with<&S::msn, 0>},
    {"the first message again", At::reply, Needs::anything, before_it<&S::msn, 1>},
    {"a reply, and a message far ahead", At::reply, Needs::anything, ahead},
    {"message offset 4", At::reply, Needs::anything, with<&S::mo, 4>},
    {"the largest message offset", At::reply, Needs::anything, with<&S::mo, ~0U>},
    {"queue 1", At::reply, Needs::anything, with<&S::qn, 1>},
    {"queue 2", At::reply, Needs::anything, with<&S::qn, 2>},
    {"queue 3", At::reply, Needs::anything, with<&S::qn, 3>},
    {"the largest queue", At::reply, Needs::anything, with<&S::qn, ~0U>},
    {"a Read Request on queue 0", At::read, Needs::to_read, with<&S::qn, 0>},
    {"a Read Request that left one out", At::read, Needs::to_read, with<&S::msn, 1U << 20>},
    {"DDP version 0", At::reply, Needs::anything, with<&S::ddp_version, 0>},
    {"DDP version 2", At::reply, Needs::anything, with<&S::ddp_version, 2>},
    {"RDMAP version 0", At::reply, Needs::anything, with<&S::rdmap_version, 0>},
    {"RDMAP version 3", At::reply, Needs::anything, with<&S::rdmap_version, 3>},
    {"opcode 8", At::reply, Needs::anything, with<&S::opcode, 8>},
    {"opcode 15", At::reply, Needs::anything, with<&S::opcode, 15>},
    {"a reply that is an untagged Write", At::reply, Needs::anything,
     with<&S::opcode, wire::kWrite>},
    {"a reply that is an untagged Read Response", At::reply, Needs::anything,
     with<&S::opcode, wire::kReadResponse>},
    {"a reply that is a Read Request", At::reply, Needs::anything,
     with<&S::opcode, wire::kReadRequest>},
    {"a reply with solicited event", At::reply, Needs::anything,
     with<&S::opcode, wire::kSendSolicited>},
    {"a reply that is tagged", At::reply, Needs::anything, tagged},
    {"a reply that never ends", At::reply, Needs::anything, unfinished},
    {"a reply in two segments", At::reply, Needs::anything, in_two},
    {"the second segment first", At::reply, Needs::anything, second_first},
    {"segments with a gap", At::reply, Needs::anything, with_a_gap},
    {"segments that overlap", At::reply, Needs::anything, with_an_overlap},
    {"segments of two opcodes", At::reply, Needs::anything, changing_opcode},
    {"a Write between two segments", At::reply, Needs::anything, a_write_between},
    {"a Write's segment without T", At::write, Needs::to_write, with<&S::tagged, false>},
    {"a Write of RDMAP version 2", At::write, Needs::to_write, with<&S::rdmap_version, 2>},
    {"invalidates STag 0", At::reply, Needs::anything, invalidates_nothing},
    {"invalidates an unknown STag", At::reply, Needs::anything, invalidates_unknown},
    {"invalidates another key", At::reply, Needs::to_write, invalidates_other_key},
    {"invalidates memory of the call before", At::reply, Needs::anything, invalidates_older<true>},
    {"invalidates memory of another connection", At::reply, Needs::anything,
     invalidates_older<false>},
    {"invalidates what it has read", At::reply, Needs::to_read, invalidates_read_memory},
    {"invalidates what it has written", At::reply, Needs::to_write, invalidates_last},
    {"invalidates before it writes", At::call, Needs::to_write, invalidates_early},
    {"invalidates before it reads", At::call, Needs::to_read, invalidates_early},
};

}  // namespace

std::vector<WireAttack> attacks_by_segments() {
  std::vector<WireAttack> all;
  for (const Row& row : kRows) all.push_back({row.name, row.at, row.needs, row.strike});
  return all;
}

}  // namespace nfsrdma::hostile
