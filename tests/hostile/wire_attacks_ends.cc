#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;

wire::Segment terminate(std::size_t size) {
  wire::Segment segment;
  segment.opcode = wire::kTerminate;
  segment.qn = 2;
  segment.msn = 1;
  segment.payload.assign(size, std::byte{0x11});  // DDP, tagged buffer, bounds
  return segment;
}
constexpr std::size_t kUsual = 20;

template <std::size_t Size>
void terminates(Strike& s) {
  s.inject(terminate(Size));
}
void terminates_twice(Strike& s) {
  terminates<kUsual>(s);
  terminates<kUsual>(s);
}
void terminates_instead(Strike& s) {
  terminates<kUsual>(s);
  s.forward = false;
}
void terminates_within(Strike& s) {
  if (s.index != 0) return;
  wire::Segment first = *s.segment;
  first.last = false;
  first.payload.resize(first.payload.size() / 2);
  s.inject(first);
  terminates_instead(s);
}
void terminates_and_ends(Strike& s) {
  terminates<kUsual>(s);
  s.finish();
}
void terminates_and_is_silent(Strike& s) {
  terminates<kUsual>(s);
  s.silence();
}
void ends(Strike& s) {
  s.forward = false;
  s.finish();
}
void ends_behind(Strike& s) { s.finish(); }
void resets(Strike& s) {
  s.forward = false;
  s.reset();
}
void is_silent(Strike& s) { s.silence(); }
void says_nothing(Strike& s) { s.forward = false; }

void startup_terminates(Strike& s) {
  s.forward = false;
  terminates<kUsual>(s);
}
/// One byte of the MPA Reply.
template <std::size_t At, unsigned Value>
void startup_byte(Strike& s) {
  if (s.startup->size() > At) (*s.startup)[At] = std::byte{Value};
}
void startup_cut(Strike& s) {
  s.startup->resize(s.startup->size() / 2);
  s.inject(*s.startup);
  ends(s);
}
void startup_twice(Strike& s) { s.inject(*s.startup); }
void startup_of_nothing(Strike& s) { s.startup->assign(s.startup->size(), std::byte{0}); }
void startup_without_private_data(Strike& s) {
  constexpr std::size_t kHeader = 20;
  s.startup->resize(kHeader);
  (*s.startup)[kHeader - 2] = (*s.startup)[kHeader - 1] = std::byte{0};
}
void startup_of_endless_private_data(Strike& s) {
  startup_byte<18, 0xff>(s);
  startup_byte<19, 0xff>(s);
}
void startup_with_other_private_data(Strike& s) {
  constexpr std::size_t kPrivateData = 24;
  for (std::size_t i = kPrivateData; i < s.startup->size(); ++i) (*s.startup)[i] = std::byte{0xff};
}

struct Row {
  const char* name;
  void (*strike)(Strike&);
};
constexpr Row kAtEach[] = {
    {"Terminate", terminates<kUsual>},
    {"Terminate of no bytes", terminates<0>},
    {"Terminate of 3 bytes", terminates<3>},
    {"Terminate of 2000 bytes", terminates<2000>},
    {"two Terminates", terminates_twice},
    {"Terminate and FIN", terminates_and_ends},
    {"Terminate and silence", terminates_and_is_silent},
    {"FIN", ends},
    {"RST", resets},
    {"silence", is_silent},
};
constexpr Row kInstead[] = {
    {"Terminate instead", terminates_instead},
    {"nothing", says_nothing},
};
constexpr Row kAtStartup[] = {
    {"Terminate", startup_terminates},
    {"FIN", ends},
    {"RST", resets},
    {"silence", is_silent},
    {"half, then FIN", startup_cut},
    {"twice", startup_twice},
    {"zeros", startup_of_nothing},
    {"another key", startup_byte<0, 'X'>},
    {"a Request", startup_byte<9, 'q'>},
    {"rejected", startup_byte<16, 0x70>},
    {"markers", startup_byte<16, 0xd0>},
    {"all flags", startup_byte<16, 0xff>},
    {"no flags", startup_byte<16, 0>},
    {"revision 0", startup_byte<17, 0>},
    {"revision 9", startup_byte<17, 9>},
    {"no private data", startup_without_private_data},
    {"65535 bytes of private data", startup_of_endless_private_data},
    {"absurd private data", startup_with_other_private_data},
    {"FIN behind it", ends_behind},
};
struct Moment {
  const char* name;
  At at;
  Needs needs;
};
constexpr Moment kMoments[] = {
    {" before the call is answered", At::call, Needs::anything},
    {" in the middle of Writes", At::write, Needs::to_write},
    {" when data is to be read", At::read, Needs::to_read},
    {" before the reply", At::reply, Needs::anything},
    {" behind the reply", At::after, Needs::anything},
};

}  // namespace

std::vector<WireAttack> attacks_by_ends() {
  std::vector<WireAttack> all;
  for (const Moment& moment : kMoments) {
    const auto add = [&](const Row& row) {
      all.push_back({row.name + std::string(moment.name), moment.at, moment.needs, row.strike});
    };
    for (const Row& row : kAtEach) add(row);
    const bool has_segment =
        moment.at == At::write || moment.at == At::read || moment.at == At::reply;
    if (has_segment) {
      for (const Row& row : kInstead) add(row);
    }
  }
  all.push_back({"Terminate within a Write", At::write, Needs::to_write, terminates_within});
  for (const Row& row : kAtStartup) {
    all.push_back(
        {std::string("MPA Reply: ") + row.name, At::startup, Needs::anything, row.strike});
  }
  return all;
}

}  // namespace nfsrdma::hostile
