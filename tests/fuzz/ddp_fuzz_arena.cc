#include "tests/fuzz/ddp_fuzz_arena.h"

#include <algorithm>
#include <cstdlib>

#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/network_order.h"
#include "transport/fabric/iwarp/rdmap_header.h"

namespace nfsrdma::fuzz {
namespace {

using namespace fabric::iwarp;

constexpr std::byte kFill{0xa5};
// Where the STag and the offset stand in the ULPDU.
constexpr std::size_t kStagAt = 2;
constexpr std::size_t kToAt = 6;
constexpr std::size_t kSourceStagAt = kUntaggedHeader + 16;
constexpr std::size_t kSourceToAt = kUntaggedHeader + 20;

}  // namespace

void require(bool holds) {
  if (!holds) std::abort();
}

// A region of canary lies before and behind every leased one.
Arena::Arena() : bytes_((2 * kLeases + 1) * kRegion, kFill) {}

std::size_t Arena::start_of(LeaseKind kind) const {
  return (2 * static_cast<std::size_t>(kind) + 1) * kRegion;
}

std::span<std::byte> Arena::memory(LeaseKind kind) {
  return std::span(bytes_).subspan(start_of(kind), kRegion);
}

void Arena::require_untouched() const {
  const auto filled = [](auto first, auto last) {
    return std::all_of(first, last, [](std::byte byte) { return byte == kFill; });
  };
  const auto writable = bytes_.begin() + static_cast<std::ptrdiff_t>(start_of(LeaseKind::writable));
  require(filled(bytes_.begin(), writable));
  require(filled(writable + kRegion, bytes_.end()));
}

void Arena::name_lease(std::byte* stag, std::byte* offset) const {
  const std::uint32_t number = get32(stag);
  if (number == 0 || number >= kLeases) return;
  put32(stag, leases_[number].segment.handle);
  if (offset != nullptr) put64(offset, get64(offset) + leases_[number].segment.offset);
}

void Arena::name_leases(std::span<std::byte> ulpdu) const {
  if (ulpdu.size() < kTaggedHeader) return;
  if (is_tagged(ulpdu[0])) return name_lease(&ulpdu[kStagAt], &ulpdu[kToAt]);
  if (ulpdu.size() < kUntaggedHeader) return;
  const Opcode opcode = rdmap_opcode(get8(&ulpdu[1]));
  if (invalidates(opcode)) return name_lease(&ulpdu[kStagAt], nullptr);
  if (opcode == Opcode::read_request && ulpdu.size() >= kUntaggedHeader + kReadRequestHeader) {
    name_lease(&ulpdu[kSourceStagAt], &ulpdu[kSourceToAt]);
  }
}

std::span<const std::byte> take_ulpdu(std::span<const std::byte> input,
                                      std::vector<std::byte>& ulpdu) {
  ulpdu.clear();
  if (input.size() < kUlpduLengthField) return {};
  const std::size_t length = get16(input.data());
  const auto rest = input.subspan(kUlpduLengthField);
  const auto body = rest.first(std::min(length, rest.size()));
  ulpdu.assign(body.begin(), body.end());
  return rest.subspan(body.size());
}

std::vector<std::byte> make_fpdu(std::span<const std::byte> ulpdu) {
  std::vector<std::byte> frame(kUlpduLengthField + ulpdu.size() + fpdu_pad(ulpdu.size()));
  put16(frame.data(), static_cast<std::uint16_t>(ulpdu.size()));
  std::copy(ulpdu.begin(), ulpdu.end(), frame.begin() + kUlpduLengthField);
  Crc32c crc;
  crc.add(frame);
  const std::uint32_t value = htole32(crc.value());
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  frame.insert(frame.end(), bytes, bytes + sizeof value);
  return frame;
}

}  // namespace nfsrdma::fuzz
