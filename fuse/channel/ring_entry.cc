#include "fuse/channel/ring_entry.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nfsrdma::fuse {

RingEntry::RingEntry(RingCommits& commits, std::uint16_t queue, RingHeaders& headers,
                     std::span<std::byte> payload)
    : commits_(commits),
      queue_(queue),
      headers_(headers),
      payload_(payload),
      memory_{{&headers, sizeof headers}, {payload.data(), payload.size()}} {
  is_ring = true;
}

void RingEntry::agree(const KernelChannel& with) {
  kernel_minor = with.kernel_minor;
  maps_direct_io = with.maps_direct_io;
}

/// How long the structure is follows from the whole length; a length that cannot be leaves too
/// little, which the decoder refuses.
Message RingEntry::receive() {
  state_ = State::with_program;
  Message message;
  std::memcpy(&message.header, headers_.in_out, sizeof message.header);
  const std::size_t payload = std::min<std::size_t>(headers_.payload_size, payload_.size());
  const std::size_t rest = sizeof message.header + payload;
  const std::size_t structure = message.header.len > rest ? message.header.len - rest : 0;
  message.arguments = std::span(headers_.structure).first(std::min(structure, RingHeaders::kRoom));
  message.payload = payload_.first(payload);
  return message;
}

int RingEntry::send(std::span<const iovec> parts) {
  if (state_ != State::with_program) return state_ == State::closed ? ENODEV : ENOENT;
  std::memcpy(headers_.in_out, parts.front().iov_base, sizeof(fuse_out_header));
  std::size_t filled = 0;
  for (const iovec& part : parts.subspan(1)) {
    if (part.iov_len > payload_.size() - filled) return EMSGSIZE;
    std::memcpy(payload_.data() + filled, part.iov_base, part.iov_len);
    filled += part.iov_len;
  }
  headers_.payload_size = static_cast<std::uint32_t>(filled);
  state_ = State::with_kernel;
  commits_.commit(*this);
  return 0;
}

}  // namespace nfsrdma::fuse
