#include "transport/fabric/iwarp/ddp_header.h"

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr std::uint8_t kTaggedFlag = 0x80;
constexpr std::uint8_t kLastFlag = 0x40;
constexpr std::uint8_t kVersionMask = 0x03;

constexpr std::size_t kControlAt = 0;
constexpr std::size_t kRdmapControlAt = 1;
constexpr std::size_t kStagAt = 2;
constexpr std::size_t kToAt = 6;
constexpr std::size_t kUlpWordAt = 2;
constexpr std::size_t kQnAt = 6;
constexpr std::size_t kMsnAt = 10;
constexpr std::size_t kMoAt = 14;

}  // namespace

void encode(const DdpHeader& header, std::byte* to) {
  const int control = (header.tagged ? kTaggedFlag : 0) | (header.last ? kLastFlag : 0) |
                      (header.version & kVersionMask);
  put8(to + kControlAt, static_cast<std::uint8_t>(control));
  put8(to + kRdmapControlAt, header.rdmap_control);
  if (header.tagged) {
    put32(to + kStagAt, header.stag);
    put64(to + kToAt, header.to);
    return;
  }
  put32(to + kUlpWordAt, header.ulp_word);
  put32(to + kQnAt, header.qn);
  put32(to + kMsnAt, header.msn);
  put32(to + kMoAt, header.mo);
}

bool is_tagged(std::byte control) { return (get8(&control) & kTaggedFlag) != 0; }

DdpHeader decode_ddp_header_without_mo(const std::byte* bytes) {
  const std::uint8_t control = get8(bytes + kControlAt);
  DdpHeader header;
  header.tagged = (control & kTaggedFlag) != 0;
  header.last = (control & kLastFlag) != 0;
  header.version = control & kVersionMask;
  header.rdmap_control = get8(bytes + kRdmapControlAt);
  if (header.tagged) {
    header.stag = get32(bytes + kStagAt);
    header.to = get64(bytes + kToAt);
  } else {
    header.ulp_word = get32(bytes + kUlpWordAt);
    header.qn = get32(bytes + kQnAt);
    header.msn = get32(bytes + kMsnAt);
  }
  return header;
}

DdpHeader decode_ddp_header(const std::byte* bytes) {
  DdpHeader header = decode_ddp_header_without_mo(bytes);
  if (!header.tagged) header.mo = get32(bytes + kMoAt);
  return header;
}

}  // namespace nfsrdma::fabric::iwarp
