// DDP segment headers, RFC 5041 section 4.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nfsrdma::fabric::iwarp {

inline constexpr std::uint8_t kDdpVersion = 1;
inline constexpr std::size_t kTaggedHeader = 14;
inline constexpr std::size_t kUntaggedHeader = 18;
inline constexpr std::size_t kMaxDdpHeader = kUntaggedHeader;

/// The untagged buffer queues RDMAP uses (RFC 5040 section 4.1).
inline constexpr std::uint32_t kSendQueueNumber = 0;
inline constexpr std::uint32_t kReadRequestQueueNumber = 1;
inline constexpr std::uint32_t kTerminateQueueNumber = 2;

/// Either form; the fields of the other form are zero.
struct DdpHeader {
  bool tagged = false;                 ///< T
  bool last = false;                   ///< L
  std::uint8_t version = kDdpVersion;  ///< DV
  std::uint8_t rdmap_control = 0;      ///< the first byte of RsvdULP
  std::uint32_t stag = 0;              ///< tagged: STag
  std::uint64_t to = 0;                ///< tagged: TO, tagged offset
  std::uint32_t ulp_word = 0;          ///< untagged: the rest of RsvdULP
  std::uint32_t qn = 0;                ///< untagged: QN
  std::uint32_t msn = 0;               ///< untagged: MSN
  std::uint32_t mo = 0;                ///< untagged: MO

  std::size_t size() const { return tagged ? kTaggedHeader : kUntaggedHeader; }
};

/// Writes header.size() bytes.
void encode(const DdpHeader& header, std::byte* to);
/// Whether the first byte of a header says that it is a tagged one.
bool is_tagged(std::byte control);
/// Everything but MO, which `bytes` need not hold: kTaggedHeader bytes are enough for both forms.
DdpHeader decode_ddp_header_without_mo(const std::byte* bytes);
DdpHeader decode_ddp_header(const std::byte* bytes);

}  // namespace nfsrdma::fabric::iwarp
