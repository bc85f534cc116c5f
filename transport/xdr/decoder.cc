#include "transport/xdr/decoder.h"

#include <algorithm>
#include <array>

namespace nfsrdma::xdr {

std::string_view fault_name(int fault) {
  static constexpr std::array<std::string_view, 9> names = {
      "no fault",
      "runs past the end of the message",
      "too long",
      "pad is not zero",
      "not a boolean",
      "undefined value",
      "bytes left over",
      "not what was asked for",
      "inline count and placed length disagree"};
  const auto index = static_cast<std::size_t>(fault);
  return index < names.size() ? names[index] : "unknown fault";
}

Error Decoder::error(const char* step) const {
  return Error{Layer::decode, static_cast<int>(fault_), step,
               std::string(fault_field_) + " at offset " + std::to_string(fault_offset_)};
}

std::span<const std::byte> Decoder::fixed(std::size_t length, const char* field) {
  const std::byte* place = take(length, field);
  const std::byte* pad = place ? take(pad_of(length), field) : nullptr;
  if (!place || !ok()) return {};
  if (!std::all_of(pad, pad + pad_of(length), [](std::byte b) { return b == std::byte{0}; })) {
    set_fault(Fault::bad_pad, field);
    return {};
  }
  return {place, length};
}

std::span<const std::byte> Decoder::opaque(std::size_t bound, const char* field) {
  const std::uint32_t length = u32(field);
  if (length > bound) {
    set_fault(Fault::too_long, field);
    return {};
  }
  return fixed(length, field);
}

std::uint32_t Decoder::count(std::size_t bound, std::size_t least_bytes, const char* field) {
  const std::uint32_t elements = u32(field);
  if (elements > bound || elements > remaining() / std::max<std::size_t>(least_bytes, 1)) {
    set_fault(Fault::too_long, field);
    return 0;
  }
  return elements;
}

std::span<const std::byte> Decoder::raw(std::size_t length, const char* field) {
  const std::byte* place = take(length, field);
  if (!place) return {};
  return {place, length};
}

const PlacedItem* Decoder::match_placed() {
  if (placed_taken_ >= placed_.size()) return nullptr;
  if (by_offset_) {
    for (const auto& item : placed_) {
      if (item.offset == offset_ && item.data.data() != nullptr) return &item;
    }
    return nullptr;
  }
  const auto& item = placed_[placed_taken_];
  if (item.data.data() == nullptr) {
    ++placed_taken_;
    return nullptr;
  }
  return &item;
}

bool Decoder::placed_left() const {
  if (by_offset_ || placed_taken_ >= placed_.size()) return false;
  const auto rest = placed_.subspan(placed_taken_);
  return std::any_of(rest.begin(), rest.end(), [](const auto& item) { return !item.data.empty(); });
}

Payload Decoder::take_placed(const PlacedItem& item, std::uint32_t length, const char* field) {
  ++placed_taken_;
  const bool exact = item.data.size() == length;
  const bool with_pad = item.pad_included && item.data.size() == padded(length);
  if (!exact && !with_pad) {
    set_fault(Fault::placed_length, field);
    return {};
  }
  return {item.data.first(length), true};
}

Payload Decoder::payload(std::size_t bound, const char* field) {
  const std::uint32_t length = u32(field);
  if (length > bound) {
    set_fault(Fault::too_long, field);
    return {};
  }
  if (const PlacedItem* item = match_placed(); ok() && item)
    return take_placed(*item, length, field);
  return {fixed(length, field), false};
}

}  // namespace nfsrdma::xdr
