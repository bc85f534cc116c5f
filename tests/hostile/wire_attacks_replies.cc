#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;

/// rdma_xid to rdma_proc, the chunk lists of a reply with one chunk, the head of the RPC message.
constexpr std::size_t kWords = 22;
constexpr std::uint32_t kValues[] = {0, 1, 2, 0x7fffffff, 0xffffffff};

std::uint32_t word_at(const Frame& payload, std::size_t at) {
  return wire::be32(std::span(payload).subspan(at));
}
void put_word(Frame& payload, std::size_t at, std::uint32_t value) {
  constexpr int kBits = 8;
  for (std::size_t i = 0; i < 4; ++i) {
    payload[at + i] = static_cast<std::byte>(value >> (3 - i) * kBits);
  }
}
void replace(Strike& s, std::size_t word, std::uint32_t value) {
  const std::size_t at = word * 4;
  if (at + 4 <= s.segment->payload.size()) put_word(s.segment->payload, at, value);
}
/// The lengths that the chunks of a reply have: small changes are more likely to be believed.
void change(Strike& s, std::size_t word, int by) {
  const std::size_t at = word * 4;
  if (at + 4 > s.segment->payload.size()) return;
  put_word(s.segment->payload, at,
           word_at(s.segment->payload, at) + static_cast<std::uint32_t>(by));
}

void twice(Strike& s) { s.inject(*s.segment); }
void of_nobody_first(Strike& s) {
  wire::Segment other = *s.segment;
  put_word(other.payload, 0, ~word_at(other.payload, 0));
  s.inject(other);
}
void of_a_call_before_first(Strike& s) {
  const Offer* older = s.before(true);
  if (!older) return;
  wire::Segment other = *s.segment;
  put_word(other.payload, 0, older->xid);
  s.inject(other);
}
template <std::size_t Size>
void cut(Strike& s) {
  if (s.segment->payload.size() > Size) s.segment->payload.resize(Size);
}
void cut_by_a_word(Strike& s) { s.segment->payload.resize(s.segment->payload.size() - 4); }
void longer(Strike& s) { s.segment->payload.resize(s.segment->payload.size() + 64); }
/// Another rdma_xid than the RPC message has.
void two_xids(Strike& s) {
  if (const Offer* older = s.before(true)) put_word(s.segment->payload, 0, older->xid);
}

struct Row {
  const char* name;
  At at;
  void (*strike)(Strike&);
};
constexpr Row kRows[] = {
    {"the reply twice", At::reply, twice},
    {"a reply to nobody first", At::reply, of_nobody_first},
    {"a reply to a call answered before first", At::reply, of_a_call_before_first},
    {"rdma_xid of a call answered before", At::reply, two_xids},
    {"a reply of 16 bytes", At::reply, cut<16>},
    {"a reply of 28 bytes", At::reply, cut<28>},
    {"a reply of 60 bytes", At::reply, cut<60>},
    {"a reply without its last word", At::reply, cut_by_a_word},
    {"a reply of 64 bytes more", At::reply, longer},
};

}  // namespace

std::vector<WireAttack> attacks_by_replies() {
  std::vector<WireAttack> all;
  for (const Row& row : kRows) all.push_back({row.name, row.at, Needs::anything, row.strike});
  for (std::size_t word = 0; word < kWords; ++word) {
    const std::string name = "word " + std::to_string(word) + " of the reply ";
    for (const std::uint32_t value : kValues) {
      all.push_back({name + "is " + std::to_string(value), At::reply, Needs::anything,
                     [=](Strike& s) { replace(s, word, value); }});
    }
    for (const int by : {-4, -1, 1, 4}) {
      all.push_back({name + "changed by " + std::to_string(by), At::reply, Needs::anything,
                     [=](Strike& s) { change(s, word, by); }});
    }
  }
  return all;
}

}  // namespace nfsrdma::hostile
