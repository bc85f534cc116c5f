#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;

constexpr std::uint32_t kPiece = 64;
/// More than any side takes at once.
constexpr int kTooMany = 300;

void read_from(Strike& s, std::uint32_t stag, std::uint64_t to, std::uint32_t size = kPiece,
               bool allowed = false) {
  wire::Read read;
  read.source_stag = stag;
  read.source_to = to;
  read.size = size;
  s.read(read, allowed);
}
const fabric::Segment& lent(const Strike& s) { return s.offer.to_read.front(); }
void of_segment(Strike& s, const fabric::Segment& segment) {
  read_from(s, segment.handle, segment.offset);
}

void of_nothing(Strike& s) { read_from(s, 0x00123456, 0x1000); }
void of_stag_zero(Strike& s) { read_from(s, 0, 0); }
void of_largest_stag(Strike& s) { read_from(s, ~0U, 0); }
void of_what_may_be_written(Strike& s) { of_segment(s, s.offer.to_write.front()); }
template <bool SameConnection>
void of_older(Strike& s) {
  if (const Offer* older = s.before(SameConnection)) of_segment(s, older->any());
}
void below(Strike& s) { read_from(s, lent(s).handle, lent(s).offset - 1); }
void beyond(Strike& s) {
  read_from(s, lent(s).handle, lent(s).offset + lent(s).length - kPiece + 1);
}
void behind(Strike& s) { read_from(s, lent(s).handle, lent(s).offset + lent(s).length); }
void too_long(Strike& s) { read_from(s, lent(s).handle, lent(s).offset, lent(s).length + 1); }
void as_long_as_can_be(Strike& s) { read_from(s, lent(s).handle, lent(s).offset, ~0U); }
void wrapping(Strike& s) { read_from(s, lent(s).handle, ~std::uint64_t{0} - 1); }
void other_key(Strike& s) { read_from(s, lent(s).handle ^ 1, lent(s).offset); }
/// RFC 5040 section 5.2: the source of a Read of no bytes is not looked at.
void of_no_bytes(Strike& s) { read_from(s, 0x00123456, 0x1000, 0, true); }
void again(Strike& s) { read_from(s, lent(s).handle, lent(s).offset, lent(s).length, true); }
void many_of_no_bytes(Strike& s) {
  for (int i = 0; i < kTooMany; ++i) of_no_bytes(s);
}
void many(Strike& s) {
  for (int i = 0; i < kTooMany; ++i) again(s);
}
void late(Strike& s) { of_segment(s, lent(s)); }
void late_of_written(Strike& s) { of_segment(s, s.offer.to_write.front()); }
template <int Change>
void of_another_size(Strike& s) {
  s.segment->payload.resize(s.segment->payload.size() + Change);
}
void in_two_segments(Strike& s) {
  const Frame payload = s.segment->payload;
  const auto middle = static_cast<std::ptrdiff_t>(payload.size() / 2);
  wire::Segment first = *s.segment;
  first.last = false;
  first.payload.assign(payload.begin(), payload.begin() + middle);
  s.inject(first);
  s.segment->mo = static_cast<std::uint32_t>(middle);
  s.segment->payload.assign(payload.begin() + middle, payload.end());
}
void sink_of_ours(Strike& s) {
  wire::Read read;
  read.sink_to = lent(s).offset;
  read.source_stag = lent(s).handle;
  read.source_to = lent(s).offset;
  read.size = lent(s).length;
  s.read(read, true);
}
void never_asked(Strike& s) { s.forward = false; }

struct Row {
  const char* name;
  At at;
  Needs needs;
  void (*strike)(Strike&);
};

constexpr Row kRows[] = {
    {"a Read of what was never lent", At::call, Needs::anything, of_nothing},
    {"a Read of STag 0", At::call, Needs::anything, of_stag_zero},
    {"a Read of the largest STag", At::call, Needs::anything, of_largest_stag},
    {"a Read of memory that may be written", At::call, Needs::to_write, of_what_may_be_written},
    {"a Read of memory of the call before", At::call, Needs::anything, of_older<true>},
    {"a Read of memory of another connection", At::call, Needs::anything, of_older<false>},
    {"a Read that begins a byte too early", At::read, Needs::to_read, below},
    {"a Read that ends a byte too late", At::read, Needs::to_read, beyond},
    {"a Read behind the memory", At::read, Needs::to_read, behind},
    {"a Read of a byte too many", At::read, Needs::to_read, too_long},
    {"a Read of 2^32 - 1 bytes", At::read, Needs::to_read, as_long_as_can_be},
    {"a Read whose offset wraps", At::read, Needs::to_read, wrapping},
    {"a Read with another key", At::read, Needs::to_read, other_key},
    {"a Read of no bytes of anything", At::call, Needs::anything, of_no_bytes},
    {"the same memory read again", At::read, Needs::to_read, again},
    {"a Read to a sink that is our own offset", At::read, Needs::to_read, sink_of_ours},
    {"300 Reads of no bytes", At::call, Needs::anything, many_of_no_bytes},
    {"300 Reads of the memory", At::read, Needs::to_read, many},
    {"a Read behind the reply", At::after, Needs::to_read, late},
    {"a Read of written memory behind the reply", At::after, Needs::to_write, late_of_written},
    {"a Read Request of a byte less", At::read, Needs::to_read, of_another_size<-1>},
    {"a Read Request of a byte more", At::read, Needs::to_read, of_another_size<1>},
    {"a Read Request in two segments", At::read, Needs::to_read, in_two_segments},
    {"no Read, and no reply", At::read, Needs::to_read, never_asked},
};

}  // namespace

std::vector<WireAttack> attacks_by_reads() {
  std::vector<WireAttack> all;
  for (const Row& row : kRows) all.push_back({row.name, row.at, row.needs, row.strike});
  return all;
}

}  // namespace nfsrdma::hostile
