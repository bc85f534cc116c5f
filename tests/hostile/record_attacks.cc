#include "tests/hostile/record_attacks.h"

#include <algorithm>
#include <random>

namespace nfsrdma::hostile {
namespace {

using Bytes = std::span<const std::byte>;

/// Shorter than a caller waits, and longer.
constexpr Duration kLate = std::chrono::seconds(10);
constexpr Duration kTooLate = std::chrono::seconds(30);
/// Most pieces that a reply is cut into.
constexpr std::size_t kPieces = 400;
/// XID, type, status, verifier, accept status, and the status and tag of the COMPOUND.
constexpr std::size_t kHeaderWords = 8;
constexpr std::uint32_t kValues[] = {0, 1, 2, 0x7fffffff, 0xffffffff};

void instead(RecordStrike& s, Bytes bytes) {
  s.forward = false;
  s.conversation.emit(bytes);
}

template <std::size_t Numerator, std::size_t Denominator>
void part(RecordStrike& s) {
  const Message record = record_of(s.message);
  instead(s, Bytes(record).first(record.size() * Numerator / Denominator));
}
void all_but_a_byte(RecordStrike& s) {
  const Message record = record_of(s.message);
  instead(s, Bytes(record).first(record.size() - 1));
}
void mark_alone(RecordStrike& s) {
  instead(s, record_mark(static_cast<std::uint32_t>(s.message.size())));
}
void nothing(RecordStrike& s) { s.forward = false; }

void fragments(RecordStrike& s, std::size_t size, std::size_t empty) {
  s.forward = false;
  const Bytes message(s.message);
  Message stream;
  const auto add = [&](Bytes bytes) { stream.insert(stream.end(), bytes.begin(), bytes.end()); };
  for (std::size_t i = 0; i < empty; ++i) add(record_mark(0, false));
  for (std::size_t at = 0; at < message.size(); at += size) {
    const std::size_t length = std::min(size, message.size() - at);
    add(record_mark(static_cast<std::uint32_t>(length), at + length == message.size()));
    add(message.subspan(at, length));
  }
  s.conversation.emit(stream);
}
template <std::size_t Size>
void in_fragments(RecordStrike& s) {
  fragments(s, Size, 0);
}
template <std::size_t Count>
void behind_empty_fragments(RecordStrike& s) {
  fragments(s, s.message.size(), Count);
}
void in_pieces(RecordStrike& s) {
  s.forward = false;
  const Message record = record_of(s.message);
  const std::size_t size = record.size() / kPieces + 1;
  for (std::size_t at = 0; at < record.size(); at += size) {
    const Bytes piece = Bytes(record).subspan(at, std::min(size, record.size() - at));
    s.conversation.emit_after(std::chrono::milliseconds(1), piece);
  }
}
void half_of_it_late(RecordStrike& s) {
  const Message record = record_of(s.message);
  const std::size_t half = record.size() / 2;
  instead(s, Bytes(record).first(half));
  s.conversation.emit_after(kLate, Bytes(record).subspan(half));
}
void late(RecordStrike& s) {
  s.forward = false;
  s.conversation.emit_after(kLate, record_of(s.message));
}
void too_late(RecordStrike& s) {
  s.forward = false;
  s.conversation.emit_after(kTooLate, record_of(s.message));
}
void on_the_next_connection(RecordStrike& s) { s.on_the_next_connection(); }

void lying_mark(RecordStrike& s, std::uint32_t length, bool last) {
  instead(s, record_mark(length, last));
  s.conversation.emit(s.message);
}
void never_the_last(RecordStrike& s) {
  lying_mark(s, static_cast<std::uint32_t>(s.message.size()), false);
}
template <int Change>
void another_length(RecordStrike& s) {
  lying_mark(s, static_cast<std::uint32_t>(static_cast<int>(s.message.size()) + Change), true);
}
template <std::uint32_t Length>
void absurd_length(RecordStrike& s) {
  lying_mark(s, Length, true);
}
void empty_record_first(RecordStrike& s) { s.conversation.emit(record_mark(0)); }
void short_record_first(RecordStrike& s) {
  s.conversation.emit(record_of(Bytes(s.message).first(4)));
}
void bytes_that_are_no_record(RecordStrike& s) { instead(s, Message(kPieces, std::byte{'x'})); }

void twice(RecordStrike& s) { s.conversation.emit(record_of(s.message)); }
void to_nobody_first(RecordStrike& s) {
  Message other = s.message;
  other[0] ^= std::byte{0xff};
  s.conversation.emit(record_of(other));
}
void the_one_before_first(RecordStrike& s) {
  if (const Message* past = s.before()) s.conversation.emit(record_of(*past));
}
void the_one_before_instead(RecordStrike& s) {
  if (const Message* past = s.before()) instead(s, record_of(*past));
}
void results_of_the_one_before(RecordStrike& s) {
  const Message* past = s.before();
  if (!past) return;
  Message other = *past;
  std::copy_n(s.message.begin(), 4, other.begin());  // the XID
  s.message = other;
}
template <std::size_t Size>
void cut(RecordStrike& s) {
  s.message.resize(std::min(s.message.size(), Size));
}
void cut_by_a_word(RecordStrike& s) {
  s.message.resize(std::max<std::size_t>(s.message.size(), 4) - 4);
}
void cut_by_half(RecordStrike& s) { s.message.resize(s.message.size() / 8 * 4); }
void longer(RecordStrike& s) { s.message.resize(s.message.size() + 64); }

void end(RecordStrike& s) { s.conversation.wire().finish_client(); }
void reset(RecordStrike& s) { s.conversation.wire().reset(); }
void silence(RecordStrike& s) { s.conversation.silence(); }

using Strikes = void (*)(RecordStrike&);
struct Row {
  const char* name;
  Strikes strike;
};
constexpr Row kParts[] = {
    {"no reply", nothing},
    {"a mark alone", mark_alone},
    {"half a mark", part<1, 1000>},
    {"half a record", part<1, 2>},
    {"a record but for a byte", all_but_a_byte},
};
constexpr Row kEnds[] = {
    {"the next one", nullptr}, {"FIN", end}, {"RST", reset}, {"silence", silence}};
constexpr Row kRows[] = {
    {"in fragments of a byte", in_fragments<1>},
    {"in fragments of 3 bytes", in_fragments<3>},
    {"in fragments of 1000 bytes", in_fragments<1000>},
    {"behind 5 empty fragments", behind_empty_fragments<5>},
    {"behind 17 empty fragments", behind_empty_fragments<17>},
    {"behind 5000 empty fragments", behind_empty_fragments<5000>},
    {"in pieces", in_pieces},
    {"half of it late", half_of_it_late},
    {"late", late},
    {"when its caller has gone", too_late},
    {"on the next connection", on_the_next_connection},
    {"a record without a last fragment", never_the_last},
    {"a record of 4 bytes less than it says", another_length<4>},
    {"a record of a byte more than it says", another_length<-1>},
    {"a record that says 0 bytes", absurd_length<0>},
    {"a record that says a MiB", absurd_length<1U << 20>},
    {"a record that says 2^31 - 1 bytes", absurd_length<0x7fffffff>},
    {"an empty record first", empty_record_first},
    {"a record of 4 bytes first", short_record_first},
    {"bytes that are no record", bytes_that_are_no_record},
    {"twice", twice},
    {"a reply to nobody first", to_nobody_first},
    {"the reply before once more", the_one_before_first},
    {"the reply before instead", the_one_before_instead},
    {"the results of the reply before", results_of_the_one_before},
    {"cut to 4 bytes", cut<4>},
    {"cut to 12 bytes", cut<12>},
    {"cut to 24 bytes", cut<24>},
    {"cut to half", cut_by_half},
    {"without its last word", cut_by_a_word},
    {"64 bytes more", longer},
};

void replace(RecordStrike& s, std::size_t index, std::uint32_t value) {
  if (s.message.size() < (index + 1) * 4) return;
  Message word = record_mark(value & 0x7fffffff, (value >> 31) != 0);
  std::ranges::copy(word, s.message.begin() + static_cast<std::ptrdiff_t>(index * 4));
}

constexpr std::uint32_t kSeeds = 60;
constexpr unsigned kMostChanges = 4;
/// The RPC header and SEQUENCE are hit more often than what follows.
constexpr std::size_t kHeaders = 120;

/// Bits of the record flipped at random, its mark among them, and some cut.
void by_chance(RecordStrike& s, std::uint32_t seed) {
  std::mt19937 random(seed);
  Message record = record_of(s.message);
  for (unsigned left = 1 + random() % kMostChanges; left > 0; --left) {
    const std::size_t range = random() % 4 == 0 ? record.size() : std::min(record.size(), kHeaders);
    record[random() % range] ^= static_cast<std::byte>(1U << random() % 8);
  }
  if (random() % 8 == 0) record.resize(random() % record.size());
  instead(s, record);
}

}  // namespace

std::vector<RecordAttack> record_attacks() {
  std::vector<RecordAttack> all;
  for (const Row& row : kRows) all.push_back({row.name, row.strike});
  for (const Row& first : kParts) {
    for (const Row& then : kEnds) {
      all.push_back({std::string(first.name) + ", then " + then.name, [=](RecordStrike& s) {
                       first.strike(s);
                       if (then.strike) then.strike(s);
                     }});
    }
  }
  for (std::size_t index = 0; index < kHeaderWords; ++index) {
    for (const std::uint32_t value : kValues) {
      all.push_back({"word " + std::to_string(index) + " is " + std::to_string(value),
                     [=](RecordStrike& s) { replace(s, index, value); }});
    }
  }
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    all.push_back(
        {"seed " + std::to_string(seed), [=](RecordStrike& s) { by_chance(s, seed); }, true});
  }
  return all;
}

}  // namespace nfsrdma::hostile
