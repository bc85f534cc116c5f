// Small writes to one file that have been answered and not been sent yet, joined to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/data/gather_memory.h"

namespace nfsrdma::cache {

/// A run of bytes without a gap, in one slot. Belongs to one shard.
class GatheredWrite {
 public:
  /// A write below this many bytes is copied into a slot; larger ones are sent from where FUSE put
  /// them. A slot holds 1 MiB, and the bound counts slots: cp(1) writes 128 KiB at a time, of which
  /// eight share one.
  static constexpr std::size_t kGatherBelow = std::size_t{256} << 10;

  bool empty() const { return length_ == 0; }
  std::uint64_t offset() const { return offset_; }
  std::size_t length() const { return length_; }
  std::uint64_t end() const { return offset_ + length_; }
  /// Nothing can follow the last byte.
  bool full() const { return length_ == room_; }

  /// Whether `add` would take `length` bytes at this offset, all of them.
  bool takes(std::uint64_t offset, std::size_t length) const;
  /// Copies the beginning of `data` into place, over what is there or behind it; returns how many
  /// bytes there was room for. None when they would leave a gap, or come before the first.
  std::size_t add(std::uint64_t offset, std::span<const std::byte> data);

  /// Starts anew at `offset` with a slot. As far as `kGatherBelow` allows it ends at a multiple of
  /// `most`, which is the longest run: the server gets whole blocks of a file written in sequence.
  void begin(GatherSlot slot, std::uint64_t offset, std::size_t most);

  /// Some bytes of a file, in the slot.
  struct Taken {
    GatherSlot slot;
    std::uint64_t offset = 0;
    std::span<const std::byte> data;
  };
  /// Hands over the gathered bytes for sending; empty afterwards.
  Taken take();

 private:
  GatherSlot slot_;
  std::uint64_t offset_ = 0;
  std::size_t length_ = 0;
  std::size_t room_ = 0;  ///< bytes from offset_ on
};

}  // namespace nfsrdma::cache
