// RDMAP: the control byte and the Read Request header, RFC 5040 section 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nfsrdma::fabric::iwarp {

inline constexpr std::uint8_t kRdmapVersion = 1;
inline constexpr std::size_t kReadRequestHeader = 28;

enum class Opcode : std::uint8_t {
  rdma_write = 0,
  read_request = 1,
  read_response = 2,
  send = 3,
  send_invalidate = 4,
  send_solicited = 5,
  send_solicited_invalidate = 6,
  terminate = 7,
};

/// The byte that carries RV and the opcode.
std::uint8_t rdmap_control(Opcode opcode);
std::uint8_t rdmap_version(std::uint8_t control);
/// May be a value that no Opcode has: check with is_known.
Opcode rdmap_opcode(std::uint8_t control);
bool is_known(Opcode opcode);
bool is_send(Opcode opcode);
bool invalidates(Opcode opcode);
std::string_view opcode_name(Opcode opcode);

struct ReadRequest {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
  std::uint32_t size = 0;  ///< RDMARDSZ
  std::uint32_t source_stag = 0;
  std::uint64_t source_to = 0;
};

/// Writes kReadRequestHeader bytes.
void encode(const ReadRequest& request, std::byte* to);
ReadRequest decode_read_request(const std::byte* bytes);

}  // namespace nfsrdma::fabric::iwarp
