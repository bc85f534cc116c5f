// CRC32c (Castagnoli) of an FPDU, RFC 5044 section 4.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::fabric::iwarp {

/// A CRC over bytes that arrive in pieces.
class Crc32c {
 public:
  void add(std::span<const std::byte> bytes);
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = ~std::uint32_t{0};
};

}  // namespace nfsrdma::fabric::iwarp
