// Record marking (RFC 5531 section 11): a record is one RPC message, sent as one or more fragments,
// each behind a word that has its length and says whether it is the last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::tcp {

struct RecordMark {
  static constexpr std::size_t kSize = 4;
  static constexpr std::uint32_t kLast = 0x8000'0000;
  /// The longest fragment that can be expressed.
  static constexpr std::uint32_t kMaxLength = kLast - 1;

  std::uint32_t length = 0;  ///< bytes of the fragment
  bool last = true;
};

inline std::array<std::byte, RecordMark::kSize> encode(const RecordMark& mark) {
  const std::uint32_t word = mark.length | (mark.last ? RecordMark::kLast : 0);
  return {std::byte(word >> 24), std::byte(word >> 16), std::byte(word >> 8), std::byte(word)};
}

inline RecordMark decode_mark(std::span<const std::byte, RecordMark::kSize> bytes) {
  std::uint32_t word = 0;
  for (const std::byte byte : bytes) word = word << 8 | std::to_integer<std::uint32_t>(byte);
  return {word & RecordMark::kMaxLength, (word & RecordMark::kLast) != 0};
}

}  // namespace nfsrdma::tcp
