// Bytes a peer cannot guess, for STags and offsets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nfsrdma::fabric::iwarp {

/// Draws from the kernel's generator, many numbers a system call.
class Random {
 public:
  std::uint64_t next();

 private:
  static constexpr std::size_t kNumbersPerCall = 512;
  std::array<std::uint64_t, kNumbersPerCall> numbers_{};
  std::size_t used_ = kNumbersPerCall;
};

}  // namespace nfsrdma::fabric::iwarp
