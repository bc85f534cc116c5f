#include "tests/bench/relay/segment.h"

#include <isa-l/crc.h>

namespace nfsrdma::bench::relay {

Crc crc_of(const SegmentHeader& header, std::span<const std::byte> payload,
           std::span<const std::byte> more) {
  Crc state = ~Crc{0};
  for (const auto bytes : {std::as_bytes(std::span(&header, 1)), payload, more}) {
    if (bytes.empty()) continue;
    // The library's interface only lacks the const.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    state = ::crc32_iscsi(data, static_cast<int>(bytes.size()), state);
  }
  return ~state;
}

}  // namespace nfsrdma::bench::relay
