#include "transport/fabric/iwarp/crc32c.h"

#include <isa-l/crc.h>

namespace nfsrdma::fabric::iwarp {

void Crc32c::add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  // The library does not write to the buffer; its interface only lacks the const.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  state_ = ::crc32_iscsi(data, static_cast<int>(bytes.size()), state_);
}

}  // namespace nfsrdma::fabric::iwarp
