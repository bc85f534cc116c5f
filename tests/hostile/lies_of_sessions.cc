// SEQUENCE results that are for others, shrink the session or raise flags.
#include "tests/hostile/lies.h"
#include "tests/proto/operations.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

template <void (*Change)(SEQUENCE4resok&)>
void sequence(SpoiledReply& reply) {
  reply.edit<SEQUENCE4res>([](SEQUENCE4res& result) { Change(result.sr_resok4); });
}

void other_session(SEQUENCE4resok& r) { r.sr_sessionid[3] ^= std::byte{1}; }
void zero_session(SEQUENCE4resok& r) { r.sr_sessionid.fill(std::byte{0}); }
void other_slot(SEQUENCE4resok& r) { r.sr_slotid ^= 1; }
void largest_slot(SEQUENCE4resok& r) { r.sr_slotid = 0xffffffff; }
void next_number(SEQUENCE4resok& r) { ++r.sr_sequenceid; }
void number_before(SEQUENCE4resok& r) { --r.sr_sequenceid; }
void number_zero(SEQUENCE4resok& r) { r.sr_sequenceid = 0; }
template <std::uint32_t Highest>
void highest(SEQUENCE4resok& r) {
  r.sr_highest_slotid = Highest;
}
template <std::uint32_t Target>
void target(SEQUENCE4resok& r) {
  r.sr_target_highest_slotid = Target;
}
void target_dances(SEQUENCE4resok& r) {
  static std::uint32_t turn = 0;
  r.sr_target_highest_slotid = ++turn % 2 == 0 ? 0 : 0xffffffff;
}
template <std::uint32_t Flags>
void flags(SEQUENCE4resok& r) {
  r.sr_status_flags = Flags;
}
void flags_dance(SEQUENCE4resok& r) {
  static std::uint32_t turn = 0;
  r.sr_status_flags = 1U << ++turn % 32;
}

constexpr std::uint32_t kMost = 0xffffffff;

constexpr Lie kLies[] = {
    {"another session", OP_SEQUENCE, sequence<other_session>},
    {"a session of zeros", OP_SEQUENCE, sequence<zero_session>},
    {"another slot", OP_SEQUENCE, sequence<other_slot>},
    {"the largest slot", OP_SEQUENCE, sequence<largest_slot>},
    {"the next sequence number", OP_SEQUENCE, sequence<next_number>},
    {"the sequence number before", OP_SEQUENCE, sequence<number_before>},
    {"sequence number 0", OP_SEQUENCE, sequence<number_zero>},
    {"highest slot 0", OP_SEQUENCE, sequence<highest<0>>},
    {"highest slot 2^32 - 1", OP_SEQUENCE, sequence<highest<kMost>>},
    {"one slot left", OP_SEQUENCE, sequence<target<0>>},
    {"2^32 slots", OP_SEQUENCE, sequence<target<kMost>>},
    {"2^31 slots", OP_SEQUENCE, sequence<target<0x7fffffff>>},
    {"one slot or 2^32", OP_SEQUENCE, sequence<target_dances>},
    {"all flags", OP_SEQUENCE, sequence<flags<kMost>>},
    {"another flag each time", OP_SEQUENCE, sequence<flags_dance>},
};

}  // namespace

std::span<const Lie> lies_of_sessions() { return kLies; }

std::vector<Lie> all_lies() {
  std::vector<Lie> all;
  for (const auto lies : {lies_of_attributes(), lies_of_names(), lies_of_data(), lies_of_state(),
                          lies_of_sessions()}) {
    all.insert(all.end(), lies.begin(), lies.end());
  }
  return all;
}

}  // namespace nfsrdma::hostile
