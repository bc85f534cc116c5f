#include "transport/fabric/iwarp/terminate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr std::size_t kControlSize = 4;
constexpr std::uint8_t kLengthValid = 0x80;    // M
constexpr std::uint8_t kDdpIncluded = 0x40;    // D
constexpr std::uint8_t kRdmapIncluded = 0x20;  // R
constexpr int kLayerShift = 4;
constexpr std::uint8_t kNibble = 0x0f;

struct Meaning {
  TerminateCode code;
  std::string_view text;
};

constexpr std::array<Meaning, 25> kMeanings = {{
    {terminate::kRdmapCatastrophic, "RDMAP local catastrophic error"},
    {terminate::kRdmapInvalidStag, "RDMAP remote protection error: invalid STag"},
    {terminate::kRdmapBounds, "RDMAP remote protection error: base or bounds violation"},
    {terminate::kRdmapAccess, "RDMAP remote protection error: access rights violation"},
    {terminate::kRdmapForeignStag, "RDMAP remote protection error: STag of another stream"},
    {terminate::kRdmapWrap, "RDMAP remote protection error: tagged offset wraps"},
    {terminate::kRdmapCannotInvalidate,
     "RDMAP remote protection error: STag cannot be invalidated"},
    {terminate::kRdmapVersion, "RDMAP remote operation error: invalid version"},
    {terminate::kRdmapOpcode, "RDMAP remote operation error: unexpected opcode"},
    {terminate::kRdmapUnspecified, "RDMAP remote operation error"},
    {terminate::kDdpInvalidStag, "DDP tagged buffer error: invalid STag"},
    {terminate::kDdpBounds, "DDP tagged buffer error: base or bounds violation"},
    {terminate::kDdpForeignStag, "DDP tagged buffer error: STag of another stream"},
    {terminate::kDdpWrap, "DDP tagged buffer error: tagged offset wraps"},
    {terminate::kDdpTaggedVersion, "DDP tagged buffer error: invalid version"},
    {terminate::kDdpInvalidQn, "DDP untagged buffer error: invalid queue number"},
    {terminate::kDdpNoBuffer, "DDP untagged buffer error: no buffer available"},
    {terminate::kDdpInvalidMsn, "DDP untagged buffer error: invalid MSN"},
    {terminate::kDdpInvalidMo, "DDP untagged buffer error: invalid MO"},
    {terminate::kDdpTooLong, "DDP untagged buffer error: message too long for the buffer"},
    {terminate::kDdpUntaggedVersion, "DDP untagged buffer error: invalid version"},
    {terminate::kMpaClosed, "MPA error: connection lost"},
    {terminate::kMpaCrc, "MPA error: CRC mismatch"},
    {terminate::kMpaCrcOfSiw, "MPA error: CRC mismatch, in the words of Linux siw"},
    {terminate::kMpaLength, "MPA error: ULPDU length mismatch"},
}};

}  // namespace

std::string text(const TerminateCode& code) {
  const auto* found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                   [&](const Meaning& m) { return m.code == code; });
  const std::string_view meaning = found != kMeanings.end() ? found->text : "unlisted error";
  return fmt::format("{} (layer {}, type {}, code {:#04x})", meaning, code.layer, code.etype,
                     code.code);
}

TerminatePayload encode_terminate(const TerminateCode& code,
                                  const std::optional<OffendingSegment>& segment) {
  TerminatePayload payload;
  std::byte* out = payload.bytes.data();
  put8(out, static_cast<std::uint8_t>(code.layer << kLayerShift | (code.etype & kNibble)));
  put8(out + 1, code.code);
  payload.length = kControlSize;
  if (!segment) return payload;

  std::uint8_t included = kLengthValid | kDdpIncluded;
  put16(out + payload.length, segment->length);
  payload.length += sizeof segment->length;
  const auto append = [&](std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), out + payload.length);
    payload.length += bytes.size();
  };
  append(segment->ddp.first(std::min(segment->ddp.size(), kMaxDdpHeader)));
  if (segment->rdmap.size() == kReadRequestHeader) {
    included |= kRdmapIncluded;
    append(segment->rdmap);
  }
  put8(out + 2, included);
  return payload;
}

std::optional<TerminateCode> decode_terminate(std::span<const std::byte> payload) {
  if (payload.size() < kControlSize) return std::nullopt;
  const std::uint8_t first = get8(payload.data());
  return TerminateCode{static_cast<std::uint8_t>(first >> kLayerShift),
                       static_cast<std::uint8_t>(first & kNibble), get8(payload.data() + 1)};
}

}  // namespace nfsrdma::fabric::iwarp
