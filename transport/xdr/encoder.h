// XDR encoding (RFC 4506) into memory the caller provides.
//
// An encoder never allocates and never writes past its end: the first item that does not fit puts
// it into a failed state that stays. DDP-eligible items (RFC 8267 section 6.1) are not copied: only
// their count word is encoded, and the item is remembered with the place where it belongs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace nfsrdma::xdr {

inline constexpr std::size_t kUnit = 4;

/// Bytes of zero padding that follow a variable-length item of `length` bytes.
constexpr std::size_t pad_of(std::size_t length) { return (kUnit - length % kUnit) % kUnit; }
constexpr std::size_t padded(std::size_t length) { return length + pad_of(length); }

/// An item left out of the encoded bytes. `offset` is its place in the encoded (reduced) stream;
/// its pad is left out with it (RFC 8166 section 3.4.4).
struct OmittedItem {
  std::size_t offset = 0;
  std::span<const std::byte> data;
};

class Encoder {
 public:
  /// At most this many DDP-eligible items in one message.
  static constexpr std::size_t kMaxOmitted = 4;

  Encoder() = default;
  explicit Encoder(std::span<std::byte> memory) : memory_(memory) {}

  bool ok() const { return ok_; }
  /// Bytes encoded so far.
  std::span<const std::byte> encoded() const { return memory_.first(size_); }
  std::size_t size() const { return size_; }
  std::span<const OmittedItem> omitted() const { return {omitted_.data(), omitted_count_}; }

  /// Bytes of the whole message: the encoded part, and the omitted items with their pads.
  std::size_t message_size() const {
    std::size_t bytes = size_;
    for (const OmittedItem& item : omitted()) bytes += padded(item.data.size());
    return bytes;
  }

  void u32(std::uint32_t value) {
    if (auto* place = reserve(4)) store32(place, value);
  }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value >> 32));
    u32(static_cast<std::uint32_t>(value));
  }
  void i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }
  void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
  void boolean(bool value) { u32(value ? 1 : 0); }

  /// Fixed-length opaque: bytes and pad, no count.
  void fixed(std::span<const std::byte> data) {
    auto* place = reserve(padded(data.size()));
    if (!place) return;
    if (!data.empty()) std::memcpy(place, data.data(), data.size());
    std::memset(place + data.size(), 0, pad_of(data.size()));
  }
  /// Variable-length opaque: count, bytes, pad.
  void opaque(std::span<const std::byte> data) {
    u32(static_cast<std::uint32_t>(data.size()));
    fixed(data);
  }
  void string(std::string_view text) { opaque(std::as_bytes(std::span(text))); }

  /// A DDP-eligible variable-length item: encodes the count, remembers the rest.
  void payload(std::span<const std::byte> data) {
    u32(static_cast<std::uint32_t>(data.size()));
    if (data.empty() && !keep_empty_items_) return;
    if (omitted_count_ == kMaxOmitted) {
      ok_ = false;
      return;
    }
    omitted_[omitted_count_++] = OmittedItem{size_, data};
  }

  /// Lists empty DDP-eligible items among omitted(), too. For results: an empty item uses up the
  /// Write chunk that belongs to it (RFC 8267 section 6.4.1).
  void keep_empty_items() { keep_empty_items_ = true; }

  /// Leaves room for a word that is known later (a count, a length); returns its offset.
  std::size_t placeholder() {
    const std::size_t at = size_;
    u32(0);
    return at;
  }
  void patch(std::size_t offset, std::uint32_t value) {
    if (ok_) store32(memory_.data() + offset, value);
  }

  /// Space for `length` bytes to be filled by the caller, or null when it does not fit.
  std::byte* reserve(std::size_t length) {
    if (!ok_ || memory_.size() - size_ < length) {
      ok_ = false;
      return nullptr;
    }
    std::byte* place = memory_.data() + size_;
    size_ += length;
    return place;
  }

  /// Takes back everything encoded after `size`, including a failure that happened there.
  void rewind(std::size_t size) {
    size_ = size;
    ok_ = true;
    while (omitted_count_ > 0 && omitted_[omitted_count_ - 1].offset > size) --omitted_count_;
  }

 private:
  static void store32(std::byte* place, std::uint32_t value) {
    const std::uint32_t big_endian = __builtin_bswap32(value);
    std::memcpy(place, &big_endian, sizeof big_endian);
  }

  std::span<std::byte> memory_;
  std::size_t size_ = 0;
  bool ok_ = true;
  bool keep_empty_items_ = false;
  std::size_t omitted_count_ = 0;
  std::array<OmittedItem, kMaxOmitted> omitted_{};
};

}  // namespace nfsrdma::xdr
