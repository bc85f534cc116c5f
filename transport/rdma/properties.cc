#include "transport/rdma/properties.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace nfsrdma::rdma {
namespace {

/// All types of Table 1 are one word on the wire; they differ in their valid values.
struct PropertyType {
  std::uint32_t which;
  std::uint32_t Properties::*field;
  std::uint32_t largest;
};
constexpr PropertyType kKnown[] = {
    {PROP_RBSIZ, &Properties::receive_buffer_size, std::numeric_limits<std::uint32_t>::max()},
    {PROP_REQREMINV, &Properties::requester_remote_invalidation, 1},
    {PROP_BRS, &Properties::backward_request_support, BKREQSUP_GENL},
};

const PropertyType* type_of(std::uint32_t which) {
  const auto* found =
      std::find_if(std::begin(kKnown), std::end(kKnown),
                   [which](const PropertyType& type) { return type.which == which; });
  return found == std::end(kKnown) ? nullptr : found;
}

/// pv_which and an empty pv_data.
constexpr std::size_t kLeastPropval = 8;

propval decode_propval(xdr::Decoder& in) {
  propval property;
  property.pv_which = in.u32("pv_which");
  property.pv_data = in.opaque(kMaxReceiveBufferSize, "pv_data");
  return property;
}

}  // namespace

std::uint32_t* Properties::find(std::uint32_t which) {
  const PropertyType* type = type_of(which);
  return type ? &(this->*type->field) : nullptr;
}

std::optional<std::uint32_t> property_value(const propval& property, xdr::Decoder& in) {
  const PropertyType* type = type_of(property.pv_which);
  if (!type) return std::nullopt;
  if (property.pv_data.empty()) return Properties{}.*type->field;
  xdr::Decoder data(property.pv_data);
  const std::uint32_t value = data.u32("pv_data");
  if (value > type->largest) data.set_fault(xdr::Fault::bad_enum, "pv_data");
  if (!data.finish("pv_data")) {
    in.set_fault(data.fault(), "pv_data");
    return std::nullopt;
  }
  return value;
}

propval PropvalSet::next(xdr::Decoder& in) { return decode_propval(in); }

void decode_propvalset(xdr::Decoder& in, PropvalSet& set) {
  set.count_ = in.count(kMaxPropvals, kLeastPropval, "propvalset");
  xdr::Decoder first = in;
  const std::size_t begin = in.offset();
  for (std::uint32_t i = 0; i < set.count_ && in.ok(); ++i) property_value(decode_propval(in), in);
  if (!in.ok()) {
    set = {};
    return;
  }
  set.bytes_ = first.raw(in.offset() - begin, "propvalset");
}

void decode_propvalsubset(xdr::Decoder& in, PropvalSubset& subset) {
  const std::uint32_t words = in.count(kMaxSubsetWords, xdr::kUnit, "propvalsubset");
  subset.words_ = in.raw(words * xdr::kUnit, "propvalsubset");
}

bool PropvalSubset::has(std::size_t index) const {
  const std::size_t word = index / kSubsetWordBits;
  if (word >= words_.size() / xdr::kUnit) return false;
  xdr::Decoder in(words_.subspan(word * xdr::kUnit));
  return (in.u32("propvalsubset") >> (index % kSubsetWordBits) & 1U) != 0;
}

bool decode_optinfo(std::uint32_t opttype, std::span<const std::byte> optinfo, OptInfo& info) {
  info = {};
  xdr::Decoder in(optinfo);
  if (opttype == ROPT_RESPROP) {
    decode_propvalsubset(in, info.done);
    decode_propvalsubset(in, info.rej);
  }
  decode_propvalset(in, info.values);
  if (opttype == ROPT_CONNPROP) decode_propvalsubset(in, info.nochg);
  return in.finish("rdma_optinfo").has_value();
}

void encode_propval(xdr::Encoder& out, std::uint32_t which, std::uint32_t value) {
  out.u32(which);
  out.u32(xdr::kUnit);
  out.u32(value);
}

void encode_propvalsubset(xdr::Encoder& out, std::span<const std::uint32_t> words) {
  out.u32(static_cast<std::uint32_t>(words.size()));
  for (const std::uint32_t word : words) out.u32(word);
}

}  // namespace nfsrdma::rdma
