#include "client/proto/attributes.h"

#include <bit>
#include <charconv>

namespace nfsrdma::nfs4 {
namespace {

/// Bytes of one attribute's value at most.
struct ValueSize {
  static constexpr std::size_t of(const bitmap4&) { return xdr::kUnit * (1 + bitmap4::kWords); }
  static constexpr std::size_t of(const nfs_fh4&) { return xdr::kUnit + NFS4_FHSIZE; }
  static constexpr std::size_t of(const Owner&) { return xdr::kUnit + xdr::padded(kMaxOwner); }
  static constexpr std::size_t of(bool) { return xdr::kUnit; }
  static constexpr std::size_t of(std::uint64_t) { return sizeof(std::uint64_t); }
  static constexpr std::size_t of(const nfstime4&) { return 3 * xdr::kUnit; }
  static constexpr std::size_t of(const settime4&) { return 4 * xdr::kUnit; }
  static constexpr std::size_t of(const fsid4&) { return 2 * sizeof(std::uint64_t); }
  static constexpr std::size_t of(const change_policy4&) { return 2 * sizeof(std::uint64_t); }
  static constexpr std::size_t of(const specdata4&) { return 2 * xdr::kUnit; }
  static constexpr std::size_t of(const mode_masked4&) { return 2 * xdr::kUnit; }
  static constexpr std::size_t of(std::uint32_t) { return xdr::kUnit; }
  template <class E>
  requires std::is_enum_v<E>
  static constexpr std::size_t of(E) { return xdr::kUnit; }
};

struct Listed {
  const char* name = nullptr;
  std::size_t max_size = 0;
};

/// The list of attributes, indexed by number.
constexpr auto kListed = [] {
  std::array<Listed, bitmap4::kBits> entries{};
  const Attributes none;
  Attributes::attributes(none, [&entries](std::uint32_t number, const char* name, auto& field) {
    entries[number] = {name, ValueSize::of(field)};
  });
  return entries;
}();

constexpr bitmap4 kKnown = [] {
  bitmap4 bits;
  for (std::uint32_t bit = 0; bit < bitmap4::kBits; ++bit) {
    if (kListed[bit].name) bits.set(bit);
  }
  return bits;
}();

std::uint32_t first_bit(const bitmap4& bits) {
  std::uint32_t bit = 0;
  while (!bits.test(bit)) ++bit;
  return bit;
}

Error unknown_attribute(const bitmap4& unknown) {
  return Error{
      Layer::decode, static_cast<int>(xdr::Fault::bad_enum), "fattr4",
      "attribute " + std::to_string(first_bit(unknown)) + " is not one that was asked for"};
}

}  // namespace

void Owner::encode_to(xdr::Encoder& out) const {
  if (!numeric) return out.string(name);
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
  out.string({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void Owner::decode_from(xdr::Decoder& in, const char* field) {
  name = in.string(kMaxText, field);
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, id);
  const bool leading_zero = name.size() > 1 && name.front() == '0';
  numeric = !name.empty() && parsed.ec == std::errc{} && parsed.ptr == end && !leading_zero;
  if (numeric) name = {};
}

const bitmap4& known_attributes() { return kKnown; }

const char* attribute_name(std::uint32_t attribute) {
  const bool has_field = attribute < bitmap4::kBits && kListed[attribute].name;
  return has_field ? kListed[attribute].name : "attribute";
}

Result<Attributes> decode_attributes(const fattr4& values) {
  const bitmap4 unknown = values.attrmask - kKnown;
  if (!unknown.empty()) return fail(unknown_attribute(unknown));
  Result<Attributes> decoded{tl::in_place};
  decoded->present = values.attrmask;
  xdr::Decoder in(values.attr_vals);
  Decode visit(in);
  Attributes::attributes(*decoded, [&](std::uint32_t number, const char* name, auto& field) {
    if (values.attrmask.test(number)) visit(name, field);
  });
  TRY(in.finish("fattr4"));
  return decoded;
}

bool encode_attributes(xdr::Encoder& out, const bitmap4& wanted, const Attributes& attributes) {
  const bitmap4 encoded = wanted & attributes.present & kKnown;
  Encode visit(out);
  visit("attrmask", encoded);
  const std::size_t length = out.placeholder();
  const std::size_t start = out.size();
  Attributes::attributes(attributes, [&](std::uint32_t number, const char* name, auto& field) {
    if (encoded.test(number)) visit(name, field);
  });
  out.patch(length, static_cast<std::uint32_t>(out.size() - start));
  return out.ok();
}

std::size_t max_attributes_size(const bitmap4& wanted) {
  std::size_t size = ValueSize::of(wanted) + xdr::kUnit;
  for (std::uint32_t word = 0; word < bitmap4::kWords; ++word) {
    for (std::uint32_t left = wanted.words[word]; left != 0; left &= left - 1) {
      size += kListed[32 * word + static_cast<std::uint32_t>(std::countr_zero(left))].max_size;
    }
  }
  return size;
}

}  // namespace nfsrdma::nfs4
