// Makes captures of RoCEv2 for tests.
#pragma once

#include "tests/lab/capture/capture_maker.h"

namespace nfsrdma::lab::test {

/// One reliable connection, made by the connection manager, between queue pairs 0x11 of 192.0.2.1,
/// the client, and 0x22 of 192.0.2.2. Numbers are right but for what a test changes.
class RoceMaker {
 public:
  /// Writes REQ and REP with private data: 4096 bytes, and R as told. Without `manager` nothing.
  RoceMaker(CaptureMaker& file, bool invalidation, bool manager = true);

  /// In packets of kMtu bytes.
  void send(Side from, std::span<const std::byte> message,
            std::optional<std::uint32_t> invalidated = {});
  void write(Side from, Place to, std::span<const std::byte> data);
  /// A read of `length` bytes and its responses, with `data`.
  void read(Side from, Place place, std::span<const std::byte> data);
  /// A negative acknowledgement with this code.
  void refuse(Side from, std::uint8_t code);

  static constexpr std::size_t kMtu = 256;
  std::uint32_t psn[2] = {0xfffffe, 5};  ///< by Side: the next; the client's soon wraps

 private:
  void packet(Side from, std::uint8_t opcode, std::uint32_t number, const Bytes& extension,
              std::span<const std::byte> payload);
  void manage(Side from, std::uint16_t attribute, const Bytes& message);
  void datagram(Side from, const Bytes& bytes);

  CaptureMaker& file_;
};

}  // namespace nfsrdma::lab::test
