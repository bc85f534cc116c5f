#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>

namespace nfsrdma::fuzz {
namespace {

constexpr std::size_t kWord = 4;
constexpr std::size_t kLongestPiece = 64;

/// Values that lengths, counts and discriminants break on.
constexpr std::array<std::uint32_t, 12> kInteresting = {
    0, 1, 2, 3, 5, 7, 16, 0x400, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};

std::size_t below(std::mt19937_64& engine, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(engine() % bound);
}

void flip_bit(Input& input, std::mt19937_64& engine) {
  if (input.empty()) return;
  input[below(engine, input.size())] ^= static_cast<std::uint8_t>(1U << engine() % 8);
}

void set_byte(Input& input, std::mt19937_64& engine) {
  if (input.empty()) return;
  input[below(engine, input.size())] = static_cast<std::uint8_t>(engine());
}

/// Overwrites a word with an interesting value, or adds a small number to it.
void change_word(Input& input, std::mt19937_64& engine) {
  if (input.size() < kWord) return;
  const std::size_t at = below(engine, input.size() - kWord + 1);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) value = value << 8 | input[at + i];
  value = engine() % 2 ? kInteresting[below(engine, kInteresting.size())]
                       : value + static_cast<std::uint32_t>(engine() % 9) - 4;
  for (std::size_t i = kWord; i > 0; --i, value >>= 8) {
    input[at + i - 1] = static_cast<std::uint8_t>(value);
  }
}

void erase_piece(Input& input, std::mt19937_64& engine) {
  const std::size_t at = below(engine, input.size() + 1);
  const std::size_t length = std::min(input.size() - at, 1 + below(engine, kLongestPiece));
  const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
  input.erase(first, first + static_cast<std::ptrdiff_t>(length));
}

/// Copies a piece of `other` to somewhere in `input`.
void insert_piece(Input& input, const Input& other, std::mt19937_64& engine) {
  const std::size_t from = below(engine, other.size() + 1);
  const std::size_t length = std::min(other.size() - from, 1 + below(engine, kLongestPiece));
  if (input.size() + length > kMaxInput) return;
  const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
  const auto at = input.begin() + static_cast<std::ptrdiff_t>(below(engine, input.size() + 1));
  input.insert(at, first, first + static_cast<std::ptrdiff_t>(length));
}

void truncate(Input& input, std::mt19937_64& engine) {
  input.resize(below(engine, input.size() + 1));
}

}  // namespace

void mutate(Input& input, const Input& other, std::mt19937_64& engine) {
  constexpr std::size_t kMostChanges = 4;
  for (std::size_t changes = 1 + below(engine, kMostChanges); changes > 0; --changes) {
    switch (engine() % 8) {
      case 0:
      case 1: flip_bit(input, engine); break;
      case 2: set_byte(input, engine); break;
      case 3:
      case 4: change_word(input, engine); break;
      case 5: erase_piece(input, engine); break;
      case 6: insert_piece(input, other, engine); break;
      default: truncate(input, engine); break;
    }
  }
}

}  // namespace nfsrdma::fuzz
