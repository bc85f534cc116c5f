// FPDUs on their way to the socket: headers and trailers in a small staging area, payload where its
// owner has it, all gathered for one system call (RFC 5044 section 4).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "transport/fabric/iwarp/crc32c.h"

namespace nfsrdma::fabric::iwarp {

inline constexpr std::size_t kUlpduLengthField = 2;
inline constexpr std::size_t kCrcField = 4;
inline constexpr std::size_t kFpduAlignment = 4;

/// Pad bytes that make an FPDU's length a multiple of four.
inline std::size_t fpdu_pad(std::size_t ulpdu_length) {
  return (kFpduAlignment - (kUlpduLengthField + ulpdu_length) % kFpduAlignment) % kFpduAlignment;
}

/// FPDUs that were added and not yet advanced over. Payload memory must stay until then.
class FpduBatch {
 public:
  /// Payload pieces an FPDU may be gathered from.
  static constexpr std::size_t kPiecesPerFpdu = 32;

  void use_crc(bool use) { crc_in_use_ = use; }

  /// Bytes that are no FPDU: the MPA startup frames. Copied.
  void add_startup(std::span<const std::byte> bytes);
  /// One FPDU: begin, up to kPiecesPerFpdu payload calls, whose bytes add up to `ulpdu_length` less
  /// the header, end.
  void begin(std::size_t ulpdu_length, std::span<const std::byte> header);
  void add_payload(std::span<const std::byte> payload);
  /// Like add_payload for short bytes that are copied.
  void add_copied(std::span<const std::byte> bytes);
  void end();

  /// Whether another FPDU fits.
  bool has_room() const;
  bool empty() const { return first_ == count_; }
  std::size_t bytes() const { return bytes_; }
  std::span<iovec> pending() { return std::span(pieces_).subspan(first_, count_ - first_); }
  /// `bytes` of pending() were written.
  void advance(std::size_t bytes);
  /// Drops every FPDU of which nothing was written yet, so that another message can follow.
  void keep_only_started();
  void clear();

 private:
  static constexpr std::size_t kMaxPieces = 512;
  static constexpr std::size_t kStaging = 8192;
  static constexpr std::size_t kMaxFpdus = 128;
  static constexpr std::size_t kStagingPerFpdu = 128;
  // Held back, so that a Terminate always fits behind the rest.
  static constexpr std::size_t kReserve = 1;

  std::byte* stage(std::span<const std::byte> bytes);

  std::array<iovec, kMaxPieces> pieces_;
  std::size_t first_ = 0;  // pieces before it are written
  std::size_t count_ = 0;
  std::array<std::byte, kStaging> staging_;
  std::size_t staged_ = 0;
  std::size_t bytes_ = 0;  // not yet written
  std::array<std::size_t, kMaxFpdus + kReserve>
      ends_;  // ends of FPDUs, in bytes since the last clear
  std::size_t fpdus_ = 0;
  std::size_t added_ = 0;  // bytes since the last clear
  std::size_t ulpdu_length_ = 0;
  Crc32c crc_;
  bool crc_in_use_ = true;
};

}  // namespace nfsrdma::fabric::iwarp
