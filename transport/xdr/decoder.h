// XDR decoding (RFC 4506) of untrusted bytes.
//
// A decoder never reads past its end, never allocates, and hands out views into its input. The
// first fault stays: later reads return zeros and empty views, so callers may check once at the
// end. The fault tells offset and field name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "transport/base/result.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::xdr {

enum class Fault : int {
  none,
  truncated,      ///< the item runs past the end of the message
  too_long,       ///< a length exceeds its bound
  bad_pad,        ///< pad bytes are not zero
  bad_boolean,    ///< neither 0 nor 1
  bad_enum,       ///< a value or union arm that is not defined
  trailing,       ///< bytes left over after the last item
  unexpected,     ///< well formed, but not the answer to the request (wrong operation, wrong order)
  placed_length,  ///< inline count and RDMA-placed length disagree (V1-3.4.6-10)
};
std::string_view fault_name(int fault);

/// A DDP-eligible item that travelled by RDMA instead of in the stream. In a Call: a Read chunk,
/// `offset` = its place in the reduced stream. In a Reply: a Write chunk; items are taken in order
/// and offset is not used.
struct PlacedItem {
  std::size_t offset = 0;
  std::span<const std::byte> data;  ///< exactly the bytes that were transferred, pad not included
  bool pad_included = false;        ///< data ends with the item's XDR pad (V1-3.4.5-11)
};

/// The value of a DDP-eligible item.
struct Payload {
  std::span<const std::byte> data;
  bool placed = false;  ///< true: arrived by RDMA where it was wanted; false: a view of the message
};

class Decoder {
 public:
  Decoder() = default;
  explicit Decoder(std::span<const std::byte> message) : message_(message) {}

  /// Decodes by offset: for Calls whose chunks have Positions (the offsets are of the reduced
  /// stream). At most Encoder::kMaxOmitted items.
  void place_at_offsets(std::span<const PlacedItem> items) {
    placed_ = items;
    by_offset_ = true;
  }
  /// Decodes in order: for Replies, whose Write chunks carry no Position. An item with
  /// data.data() == nullptr is an empty or unused chunk: that result is inline.
  void place_in_order(std::span<const PlacedItem> items) {
    placed_ = items;
    by_offset_ = false;
  }

  bool ok() const { return fault_ == Fault::none; }
  Fault fault() const { return fault_; }
  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return message_.size() - offset_; }
  /// The whole message and the placed items.
  std::span<const std::byte> message() const { return message_; }
  std::span<const PlacedItem> placed() const { return placed_; }
  /// Bytes of the message and of the placed items.
  std::size_t size() const {
    std::size_t bytes = message_.size();
    for (const PlacedItem& item : placed_) bytes += item.data.size();
    return bytes;
  }
  std::size_t placed_taken() const { return placed_taken_; }

  /// The fault as an Error of Layer::decode: "READDIR entry name: too long at offset 132".
  Error error(const char* step) const;
  /// Ok, or the error.
  Result<void> status(const char* step) const {
    if (!ok()) return fail(error(step));
    return {};
  }
  /// Ok if nothing is left over, in the message or by RDMA, or the error. Placed bytes that no
  /// item accounted for were something that must not be reduced (V1-6.1-6).
  Result<void> finish(const char* step) {
    if (ok() && remaining() != 0) set_fault(Fault::trailing, "end of message");
    if (ok() && placed_left()) set_fault(Fault::placed_length, "end of message");
    return status(step);
  }

  std::uint32_t u32(const char* field) {
    const std::byte* place = take(4, field);
    return place ? load32(place) : 0;
  }
  std::uint64_t u64(const char* field) {
    const std::uint64_t high = u32(field);
    return high << 32 | u32(field);
  }
  std::int32_t i32(const char* field) { return static_cast<std::int32_t>(u32(field)); }
  std::int64_t i64(const char* field) { return static_cast<std::int64_t>(u64(field)); }
  bool boolean(const char* field) {
    const std::uint32_t value = u32(field);
    if (value > 1) set_fault(Fault::bad_boolean, field);
    return value == 1;
  }
  /// Fixed-length opaque; checks that the pad is zero.
  std::span<const std::byte> fixed(std::size_t length, const char* field);
  /// Variable-length opaque of at most `bound` bytes.
  std::span<const std::byte> opaque(std::size_t bound, const char* field);
  std::string_view string(std::size_t bound, const char* field) {
    auto data = opaque(bound, field);
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }
  /// A DDP-eligible item of at most `bound` bytes: placed if a chunk matches, else inline.
  Payload payload(std::size_t bound, const char* field);
  /// An array count, bounded by `bound` and by the elements of `least_bytes` bytes that the rest of
  /// the message could hold.
  std::uint32_t count(std::size_t bound, std::size_t least_bytes, const char* field);
  /// A view of `length` bytes that need not be padded (for skipping to a nested stream).
  std::span<const std::byte> raw(std::size_t length, const char* field);

  void set_fault(Fault fault, const char* field) {
    if (fault_ != Fault::none) return;
    fault_ = fault;
    fault_field_ = field;
    fault_offset_ = offset_;
  }

 private:
  const std::byte* take(std::size_t length, const char* field) {
    if (!ok() || remaining() < length) {
      set_fault(Fault::truncated, field);
      return nullptr;
    }
    const std::byte* place = message_.data() + offset_;
    offset_ += length;
    return place;
  }
  static std::uint32_t load32(const std::byte* place) {
    std::uint32_t big_endian;
    std::memcpy(&big_endian, place, sizeof big_endian);
    return __builtin_bswap32(big_endian);
  }
  const PlacedItem* match_placed();
  bool placed_left() const;
  Payload take_placed(const PlacedItem& item, std::uint32_t length, const char* field);

  std::span<const std::byte> message_;
  std::span<const PlacedItem> placed_;
  std::size_t placed_taken_ = 0;
  std::size_t offset_ = 0;
  std::size_t fault_offset_ = 0;
  const char* fault_field_ = "";
  Fault fault_ = Fault::none;
  bool by_offset_ = false;
};

}  // namespace nfsrdma::xdr
