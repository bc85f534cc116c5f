// Frames made by hand from the RFCs, byte by byte, without the code under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing::wire {

/// CRC32c by table, the oracle for the library's.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// RFC 5040 figure 4.
inline constexpr std::uint8_t kWrite = 0;
inline constexpr std::uint8_t kReadRequest = 1;
inline constexpr std::uint8_t kReadResponse = 2;
inline constexpr std::uint8_t kSend = 3;
inline constexpr std::uint8_t kSendInvalidate = 4;
inline constexpr std::uint8_t kSendSolicited = 5;
inline constexpr std::uint8_t kSendSolicitedInvalidate = 6;
inline constexpr std::uint8_t kTerminate = 7;

/// Any DDP segment. `control` is the RDMAP byte; by default version 1 and the opcode.
struct Segment {
  bool tagged = false;
  bool last = true;
  std::uint8_t ddp_version = 1;
  std::uint8_t rdmap_version = 1;
  std::uint8_t opcode = kSend;
  std::uint32_t stag = 0;  // tagged
  std::uint64_t to = 0;
  std::uint32_t invalidate = 0;  // untagged
  std::uint32_t qn = 0;
  std::uint32_t msn = 1;
  std::uint32_t mo = 0;
  Bytes payload = {};
};

Bytes ulpdu(const Segment& segment);
/// Length, ULPDU, pad, CRC (zero when `crc` is false).
Bytes fpdu(std::span<const std::byte> ulpdu, bool crc = true);
Bytes fpdu(const Segment& segment, bool crc = true);

Bytes send(std::uint32_t msn, Bytes payload);
Bytes write(std::uint32_t stag, std::uint64_t to, Bytes payload, bool last = true);
struct Read {
  std::uint32_t sink_stag = 0x77;
  std::uint64_t sink_to = 0x1000;
  std::uint32_t size = 0;
  std::uint32_t source_stag = 0;
  std::uint64_t source_to = 0;
};
Bytes read_request_payload(const Read& read);
Bytes read_request(std::uint32_t msn, const Read& read);

struct Startup {
  bool reply = false;
  std::uint8_t flags = 0x50;  // M 0x80, C 0x40, R 0x20, S 0x10
  std::uint8_t revision = 2;
  std::optional<std::uint16_t> ird = 16;  // with the flags A and B
  std::uint16_t ord = 16;                 // with the flags C and D
  Bytes private_data = {};
};
Bytes startup(const Startup& frame);

Bytes join(std::initializer_list<Bytes> parts);

/// One FPDU taken apart again.
struct Parsed {
  bool tagged = false;
  bool last = false;
  std::uint8_t ddp_version = 0;
  std::uint8_t rdmap_version = 0;
  std::uint8_t opcode = 0;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint32_t invalidate = 0;
  std::uint32_t qn = 0;
  std::uint32_t msn = 0;
  std::uint32_t mo = 0;
  Bytes payload = {};
  bool crc_right = false;
  bool pad_zero = false;
  std::size_t ulpdu_length = 0;
};
/// Takes the whole FPDUs off the front of a stream.
std::vector<Parsed> take_fpdus(Bytes& stream);

std::uint32_t be32(std::span<const std::byte> at);
std::uint64_t be64(std::span<const std::byte> at);

}  // namespace nfsrdma::fabric::testing::wire
