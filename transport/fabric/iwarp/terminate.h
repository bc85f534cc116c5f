// The Terminate message, RFC 5040 section 4.8, and the error codes of its three layers: RFC 5040
// (RDMAP), RFC 5041 section 7.1 (DDP), RFC 5044 section 8 (MPA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/rdmap_header.h"

namespace nfsrdma::fabric::iwarp {

/// Layer, error type and error code.
struct TerminateCode {
  std::uint8_t layer = 0;
  std::uint8_t etype = 0;
  std::uint8_t code = 0;
  bool operator==(const TerminateCode&) const = default;
};

inline constexpr std::uint8_t kLayerRdmap = 0;
inline constexpr std::uint8_t kLayerDdp = 1;
inline constexpr std::uint8_t kLayerMpa = 2;

namespace terminate {
inline constexpr TerminateCode kRdmapCatastrophic{0, 0, 0};
inline constexpr TerminateCode kRdmapInvalidStag{0, 1, 0};
inline constexpr TerminateCode kRdmapBounds{0, 1, 1};
inline constexpr TerminateCode kRdmapAccess{0, 1, 2};
inline constexpr TerminateCode kRdmapForeignStag{0, 1, 3};
inline constexpr TerminateCode kRdmapWrap{0, 1, 4};
inline constexpr TerminateCode kRdmapCannotInvalidate{0, 1, 9};
inline constexpr TerminateCode kRdmapVersion{0, 2, 5};
inline constexpr TerminateCode kRdmapOpcode{0, 2, 6};
inline constexpr TerminateCode kRdmapUnspecified{0, 2, 0xff};
inline constexpr TerminateCode kDdpInvalidStag{1, 1, 0};
inline constexpr TerminateCode kDdpBounds{1, 1, 1};
inline constexpr TerminateCode kDdpForeignStag{1, 1, 2};
inline constexpr TerminateCode kDdpWrap{1, 1, 3};
inline constexpr TerminateCode kDdpTaggedVersion{1, 1, 4};
inline constexpr TerminateCode kDdpInvalidQn{1, 2, 1};
inline constexpr TerminateCode kDdpNoBuffer{1, 2, 2};
inline constexpr TerminateCode kDdpInvalidMsn{1, 2, 3};
inline constexpr TerminateCode kDdpInvalidMo{1, 2, 4};
inline constexpr TerminateCode kDdpTooLong{1, 2, 5};
inline constexpr TerminateCode kDdpUntaggedVersion{1, 2, 6};
inline constexpr TerminateCode kMpaClosed{2, 0, 1};
inline constexpr TerminateCode kMpaCrc{2, 0, 2};
inline constexpr TerminateCode kMpaLength{2, 0, 3};
/// Linux siw on little-endian machines has layer and type the other way round. This pair means
/// nothing else.
inline constexpr TerminateCode kMpaCrcOfSiw{0, 2, 2};
}  // namespace terminate

/// "DDP tagged buffer error: base or bounds violation (layer 1, type 1, code 1)".
std::string text(const TerminateCode& code);

/// The segment an error was found in, to be quoted to its sender.
struct OffendingSegment {
  std::uint16_t length = 0;          ///< the ULPDU's
  std::span<const std::byte> ddp;    ///< its DDP header as received
  std::span<const std::byte> rdmap;  ///< its Read Request header, or empty
};

inline constexpr std::size_t kMaxTerminate = 4 + 2 + kMaxDdpHeader + kReadRequestHeader;

/// The payload of a Terminate message.
struct TerminatePayload {
  std::array<std::byte, kMaxTerminate> bytes{};
  std::size_t length = 0;
};

TerminatePayload encode_terminate(const TerminateCode& code,
                                  const std::optional<OffendingSegment>& segment);
/// Nothing when the message is too short to say anything.
std::optional<TerminateCode> decode_terminate(std::span<const std::byte> payload);

}  // namespace nfsrdma::fabric::iwarp
