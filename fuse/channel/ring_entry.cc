#include "fuse/channel/ring_entry.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

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

bool RingEntry::back_with_slot(BufferPool& pool) {
  assert(!slot_);
  Buffer slot = pool.acquire();
  if (!slot) return false;
  if (!pool.show(slot.data(), payload_)) {
    // mremap(2) takes away what is at the address before it can fail.
    put_own_memory();
    return false;
  }
  pool_ = &pool;
  slot_ = slot.release().data();
  return true;
}

/// No memory ends the daemon here as it does anywhere else.
void RingEntry::put_own_memory() {
  // Address space that is the entry's already: this takes nothing from anybody.
  void* const own = ::mmap(payload_.data(), payload_.size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (own == MAP_FAILED) throw std::bad_alloc();
  ::madvise(own, payload_.size(), MADV_DONTDUMP);
}

Buffer RingEntry::lend_slot() {
  assert(slot_ && !lent_);
  lent_ = true;
  return {*this, {slot_, pool_->slot_size()}};
}

/// Also of a slot that was parted with: then it is the pool's again.
void RingEntry::take_back(std::byte* data) {
  if (data == slot_) {
    lent_ = false;
  } else {
    pool_->take_back(data);
  }
}

void RingEntry::part_with_slot() {
  assert(lent_);
  std::byte* const before = slot_;
  slot_ = nullptr;
  lent_ = false;
  // The kernel's next request would be written over what the borrower has yet to send.
  if (!back_with_slot(*pool_)) put_own_memory();
  std::memcpy(payload_.data(), before, headers_.payload_size);
}

void RingEntry::place_short_answer() {
  std::memcpy(place(), short_answer_.data(), std::exchange(short_size_, 0));
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
  // At the address that is registered for the network.
  message.payload = {place(), payload};
  return message;
}

bool RingEntry::in_place(const iovec& part) const {
  return part.iov_base == slot_ || part.iov_base == payload_.data();
}

int RingEntry::send(std::span<const iovec> parts) {
  if (state_ != State::with_program) return state_ == State::closed ? ENODEV : ENOENT;
  const std::span<const iovec> body = parts.subspan(1);
  std::size_t size = 0;
  for (const iovec& part : body) size += part.iov_len;
  if (size > payload_.size()) return EMSGSIZE;
  std::memcpy(headers_.in_out, parts.front().iov_base, sizeof(fuse_out_header));
  headers_.payload_size = static_cast<std::uint32_t>(size);
  copied_ = 0;
  if (body.size() != 1 || !in_place(body.front())) {
    const bool later = lent_ && size <= short_answer_.size();
    short_size_ = later ? size : 0;
    // Data elsewhere in the slot overlaps with it at the same address only.
    std::byte* const to = later ? short_answer_.data() : place();
    for (const iovec& part : body) {
      std::memmove(to + copied_, part.iov_base, part.iov_len);
      copied_ += part.iov_len;
    }
  }
  state_ = State::with_kernel;
  commits_.commit(*this);
  return 0;
}

void RingEntry::close() {
  state_ = State::closed;
  unlink();
  waiting.reset();
  std::byte* const slot = std::exchange(slot_, nullptr);
  if (slot && !lent_) pool_->take_back(slot);
}

}  // namespace nfsrdma::fuse
