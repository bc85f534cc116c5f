// Memory with leases of every kind in it, and segments that name them by number, so that a recorded
// dialogue still means something although STags and offsets are drawn at random.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/fabric/fabric.h"

namespace nfsrdma::fuzz {

/// A small STag in an input stands for a lease, and the offset beside it counts from its base.
enum class LeaseKind : std::uint32_t { none, writable, readable, invalidated, prepared, count };

class Arena {
 public:
  static constexpr std::size_t kRegion = 2048;
  static constexpr auto kLeases = static_cast<std::size_t>(LeaseKind::count);

  Arena();

  fabric::Lease& lease(LeaseKind kind) { return leases_[static_cast<std::size_t>(kind)]; }
  std::span<std::byte> memory(LeaseKind kind);
  /// Aborts when anything but the writable lease's memory has changed.
  void require_untouched() const;

  /// Replaces small STags in a DDP segment by the real ones.
  void name_leases(std::span<std::byte> ulpdu) const;

 private:
  std::size_t start_of(LeaseKind kind) const;
  void name_lease(std::byte* stag, std::byte* offset) const;

  std::array<fabric::Lease, kLeases> leases_;
  std::vector<std::byte> bytes_;
};

/// Cuts an input into segments: two bytes of length, then a ULPDU. Returns what is left.
std::span<const std::byte> take_ulpdu(std::span<const std::byte> input,
                                      std::vector<std::byte>& ulpdu);

/// The FPDU of a ULPDU, with the right CRC.
std::vector<std::byte> make_fpdu(std::span<const std::byte> ulpdu);

/// A failed expectation is a crash, which is what fuzzers report.
void require(bool holds);

}  // namespace nfsrdma::fuzz
