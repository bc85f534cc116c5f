// Decoding of COMPOUND and CB_COMPOUND arguments and results, and of attributes. The first byte of
// an input says what the rest is (compound_inputs.h). What is decoded must survive a round trip.
#include <cstdlib>

#include "client/proto/attributes.h"
#include "tests/fuzz/compound_inputs.h"
#include "tests/proto/operations.h"
#include "tests/proto/print.h"

namespace nfsrdma::fuzz {
namespace {

constexpr std::size_t kRoom = 256 * 1024;

/// A failed expectation is a crash, which is what fuzzers report.
void require(bool holds) {
  if (!holds) std::abort();
}

/// Encodes the value inline (DDP-eligible items put back by hand would be a second codec), decodes
/// it and compares. Values with payloads are compared by their text only.
template <class T>
void require_round_trip(const T& value) {
  static std::vector<std::byte> memory(kRoom);
  xdr::Encoder out(memory);
  nfs4::encode(out, value);
  require(out.ok());
  std::vector<xdr::PlacedItem> placed;
  for (const auto& item : out.omitted()) placed.push_back({item.offset, item.data, false});
  xdr::Decoder in(out.encoded());
  in.place_at_offsets(placed);
  T again;
  nfs4::decode(in, again);
  require(in.ok() && in.remaining() == 0);
  require(nfs4::print(again, kRoom) == nfs4::print(value, kRoom));
}

template <class T>
void decode_one(xdr::Decoder& in) {
  T value;
  nfs4::decode(in, value);
  if (in.ok()) require_round_trip(value);
}

template <class List, class Header, class Opnum, bool kResults>
void decode_compound(std::span<const std::byte> bytes) {
  xdr::Decoder in(bytes);
  Header header;
  nfs4::decode(in, header);
  for (std::uint32_t i = 0; in.ok() && i < header.operations && i < nfs4::kMaxOperations; ++i) {
    const auto opnum = static_cast<Opnum>(in.u32("opnum"));
    const bool known = List::dispatch(opnum, [&](auto operation) {
      using Op = decltype(operation);
      decode_one<std::conditional_t<kResults, typename Op::Res, typename Op::Args>>(in);
    });
    if (!known) return;
  }
}

void decode_attributes(std::span<const std::byte> bytes) {
  xdr::Decoder in(bytes);
  nfs4::fattr4 values;
  nfs4::decode(in, values);
  if (!in.ok()) return;
  const auto decoded = nfs4::decode_attributes(values);
  if (!decoded) return require(decoded.error().layer == Layer::decode);
  static std::vector<std::byte> memory(kRoom);
  xdr::Encoder out(memory);
  require(nfs4::encode_attributes(out, decoded->present, *decoded));
  xdr::Decoder again(out.encoded());
  nfs4::fattr4 encoded;
  nfs4::decode(again, encoded);
  require(again.ok() && again.remaining() == 0);
  require(nfs4::decode_attributes(encoded).has_value());
}

void run(CompoundInput kind, std::span<const std::byte> rest) {
  using namespace nfs4;
  switch (kind) {
    case CompoundInput::arguments:
      return decode_compound<Operations, COMPOUND4args_header, nfs_opnum4, false>(rest);
    case CompoundInput::results:
      return decode_compound<Operations, COMPOUND4res_header, nfs_opnum4, true>(rest);
    case CompoundInput::callback_arguments:
      return decode_compound<CallbackOperations, CB_COMPOUND4args_header, nfs_cb_opnum4, false>(
          rest);
    case CompoundInput::callback_results:
      return decode_compound<CallbackOperations, CB_COMPOUND4res_header, nfs_cb_opnum4, true>(rest);
    case CompoundInput::attributes: return decode_attributes(rest);
  }
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  nfsrdma::fuzz::run(static_cast<nfsrdma::fuzz::CompoundInput>(data[0]), bytes.subspan(1));
  return 0;
}
