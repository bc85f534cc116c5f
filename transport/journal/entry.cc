#include "transport/journal/entry.h"

#include <bit>
#include <cstring>

#include "transport/xdr/encoder.h"

namespace nfsrdma::journal {
namespace {

void append_u32(std::vector<std::byte>& to, std::uint32_t value) {
  const std::uint32_t big_endian = __builtin_bswap32(value);
  const auto bytes = std::as_bytes(std::span(&big_endian, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_opaque(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  append_u32(to, static_cast<std::uint32_t>(bytes.size()));
  to.insert(to.end(), bytes.begin(), bytes.end());
  to.resize(to.size() + xdr::pad_of(bytes.size()));
}

}  // namespace

Body& Body::u32(std::uint32_t value) {
  append_u32(bytes_, value);
  return *this;
}

Body& Body::opaque(std::span<const std::byte> bytes) {
  append_opaque(bytes_, bytes);
  return *this;
}

void append_entry(std::vector<std::byte>& file, Kind kind, bool nested, TimePoint time,
                  std::span<const std::byte> body) {
  append_u32(file, static_cast<std::uint32_t>(kind));
  append_u32(file, nested ? 1 : 0);
  append_u32(file, static_cast<std::uint32_t>(time.count() >> 32));
  append_u32(file, static_cast<std::uint32_t>(time.count()));
  append_opaque(file, body);
}

std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr int kRotation = 29;
  std::uint64_t hash = (seed ^ bytes.size()) * kMultiplier;
  const auto mix = [&](std::uint64_t word) {
    hash = std::rotl((hash ^ word) * kMultiplier, kRotation);
  };
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
    bytes = bytes.subspan(sizeof word);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  mix(rest);
  return hash ^ hash >> 32;
}

}  // namespace nfsrdma::journal
