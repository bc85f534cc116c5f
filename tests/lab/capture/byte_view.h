// Integers of a packet whose length is not checked yet: past its end there are zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::lab {

class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(number(at, 1)); }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u24(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 3)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  /// At most `length` bytes from `at`; fewer, or none, at the end.
  std::span<const std::byte> part(std::size_t at, std::size_t length = SIZE_MAX) const {
    if (at >= bytes_.size()) return {};
    const auto rest = bytes_.subspan(at);
    return rest.first(length < rest.size() ? length : rest.size());
  }
  std::size_t size() const { return bytes_.size(); }
  bool has(std::size_t length) const { return bytes_.size() >= length; }

 private:
  std::uint64_t number(std::size_t at, std::size_t length) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length; ++i) {
      value = value << 8 |
              (at + i < bytes_.size() ? std::to_integer<std::uint64_t>(bytes_[at + i]) : 0);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace nfsrdma::lab
