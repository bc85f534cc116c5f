// MPA Request and Reply frames: RFC 5044 section 7.1.1, with the words of RFC 6581 section 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/base/result.h"
#include "transport/net/byte_stream.h"

namespace nfsrdma::fabric::iwarp {

/// Key, flags, revision and PD_Length.
inline constexpr std::size_t kStartupHeader = 20;
/// PD_Length is at most this (RFC 5044 section 7.1.1); in an enhanced frame it counts
/// kEnhancedWords.
inline constexpr std::size_t kMaxPrivateData = 512;
inline constexpr std::size_t kEnhancedWords = 4;

/// The words before the private data of an enhanced frame (RFC 6581 section 4.2.1).
struct EnhancedWords {
  /// "No limit told" (RFC 6581 section 4.2.1).
  static constexpr std::uint16_t kNotNegotiated = 0x3fff;
  std::uint16_t ird = 0;
  std::uint16_t ord = 0;
  bool peer_to_peer = false;  ///< A
  bool rtr_send = false;      ///< B: a Send of no bytes may be the ready-to-receive message
  bool rtr_write = false;     ///< C: an RDMA Write of no bytes may
  bool rtr_read = false;      ///< D: an RDMA Read of no bytes may
};

struct StartupFrame {
  enum class Kind : std::uint8_t { request, reply };
  Kind kind = Kind::request;
  bool markers = false;  ///< M
  bool crc = false;      ///< C
  bool reject = false;   ///< R
  std::uint8_t revision = 0;
  std::optional<EnhancedWords> enhanced;  ///< present when S is set
  std::vector<std::byte> private_data;    ///< without the enhanced words
};

std::vector<std::byte> encode(const StartupFrame& frame);

/// Reads one frame from a stream, not a byte more.
class StartupReader {
 public:
  explicit StartupReader(StartupFrame::Kind expected) : expected_(expected) {}

  /// True when the frame is whole. False: read again when the stream is readable. Errors: Fault
  /// protocol (not a frame, or not the kind expected), closed, reset.
  Result<bool> read(net::ByteStream& stream);
  const StartupFrame& frame() const { return frame_; }

 private:
  Result<bool> fill(net::ByteStream& stream, std::size_t bytes);
  Result<void> decode_header();
  Result<void> decode_private_data();

  StartupFrame::Kind expected_;
  std::array<std::byte, kStartupHeader + kMaxPrivateData> bytes_{};
  std::size_t have_ = 0;
  std::size_t private_data_ = 0;
  bool enhanced_ = false;
  bool header_known_ = false;
  StartupFrame frame_;
};

}  // namespace nfsrdma::fabric::iwarp
