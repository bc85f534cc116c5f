#include "transport/fabric/iwarp/rdmap_header.h"

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr int kVersionShift = 6;
constexpr std::uint8_t kOpcodeMask = 0x0f;

constexpr std::size_t kSinkStagAt = 0;
constexpr std::size_t kSinkToAt = 4;
constexpr std::size_t kSizeAt = 12;
constexpr std::size_t kSourceStagAt = 16;
constexpr std::size_t kSourceToAt = 20;

}  // namespace

std::uint8_t rdmap_control(Opcode opcode) {
  return static_cast<std::uint8_t>(kRdmapVersion << kVersionShift | static_cast<int>(opcode));
}

std::uint8_t rdmap_version(std::uint8_t control) {
  return static_cast<std::uint8_t>(control >> kVersionShift);
}

Opcode rdmap_opcode(std::uint8_t control) { return static_cast<Opcode>(control & kOpcodeMask); }

bool is_known(Opcode opcode) { return opcode <= Opcode::terminate; }

bool is_send(Opcode opcode) {
  return opcode >= Opcode::send && opcode <= Opcode::send_solicited_invalidate;
}

bool invalidates(Opcode opcode) {
  return opcode == Opcode::send_invalidate || opcode == Opcode::send_solicited_invalidate;
}

std::string_view opcode_name(Opcode opcode) {
  static constexpr std::array<std::string_view, 8> names = {
      "RDMA Write",
      "RDMA Read Request",
      "RDMA Read Response",
      "Send",
      "Send with Invalidate",
      "Send with Solicited Event",
      "Send with Solicited Event and Invalidate",
      "Terminate"};
  return is_known(opcode) ? names[static_cast<std::size_t>(opcode)] : "unknown opcode";
}

void encode(const ReadRequest& request, std::byte* to) {
  put32(to + kSinkStagAt, request.sink_stag);
  put64(to + kSinkToAt, request.sink_to);
  put32(to + kSizeAt, request.size);
  put32(to + kSourceStagAt, request.source_stag);
  put64(to + kSourceToAt, request.source_to);
}

ReadRequest decode_read_request(const std::byte* bytes) {
  ReadRequest request;
  request.sink_stag = get32(bytes + kSinkStagAt);
  request.sink_to = get64(bytes + kSinkToAt);
  request.size = get32(bytes + kSizeAt);
  request.source_stag = get32(bytes + kSourceStagAt);
  request.source_to = get64(bytes + kSourceToAt);
  return request;
}

}  // namespace nfsrdma::fabric::iwarp
