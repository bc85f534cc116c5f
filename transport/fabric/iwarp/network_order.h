// Integers in network order, as they stand in every header of this folder.
#pragma once

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nfsrdma::fabric::iwarp {

inline void put8(std::byte* to, std::uint8_t value) { *to = std::byte{value}; }
inline void put16(std::byte* to, std::uint16_t value) {
  value = htobe16(value);
  std::memcpy(to, &value, sizeof value);
}
inline void put32(std::byte* to, std::uint32_t value) {
  value = htobe32(value);
  std::memcpy(to, &value, sizeof value);
}
inline void put64(std::byte* to, std::uint64_t value) {
  value = htobe64(value);
  std::memcpy(to, &value, sizeof value);
}

inline std::uint8_t get8(const std::byte* from) { return std::to_integer<std::uint8_t>(*from); }
inline std::uint16_t get16(const std::byte* from) {
  std::uint16_t value;
  std::memcpy(&value, from, sizeof value);
  return be16toh(value);
}
inline std::uint32_t get32(const std::byte* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return be32toh(value);
}
inline std::uint64_t get64(const std::byte* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return be64toh(value);
}

}  // namespace nfsrdma::fabric::iwarp
