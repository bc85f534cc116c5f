#include "transport/fabric/iwarp/crc32c.h"

#include <isa-l/crc.h>

namespace nfsrdma::fabric::iwarp {

void Crc32c::add(std::span<const std::byte> octets) {
  if (octets.empty()) return;
  // The library does not write to the buffer; its interface only lacks the const.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(octets.data()));
  state_ = ::crc32_iscsi(data, static_cast<int>(octets.size()), state_);
}

}  // namespace nfsrdma::fabric::iwarp
