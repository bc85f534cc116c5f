// The receiving half of MPA: finds FPDUs in the pieces that TCP delivers, reads each payload to its
// place, and checks the CRC (RFC 5044 section 4).
//
// Small FPDUs are read many at a time into a stage and their payload is copied from there: a system
// call costs more than the copy. The payload of an FPDU larger than kCopyAtMost is read straight to
// its place; behind it only kLookahead bytes of the next FPDU are read, its length field and a
// tagged header, because the FPDU after a large one is likely to be large as well. Of a large
// payload only the bytes that were read with the small FPDUs before it are copied.
//
// epoll does not report staged bytes: call read() again while staged().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/undumped_bytes.h"
#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/violation.h"
#include "transport/net/byte_stream.h"

namespace nfsrdma::fabric::iwarp {

/// DDP as MPA sees it.
class UlpduConsumer {
 public:
  virtual ~UlpduConsumer() = default;
  /// Where the payload of this segment goes; the span has `length` bytes. MO is not known yet.
  virtual Checked<std::span<std::byte>> place(const DdpHeader& header, std::size_t length) = 0;
  /// The payload is there and the CRC was right.
  virtual Checked<> deliver(const DdpHeader& header, std::size_t length) = 0;
};

enum class ReadStatus {
  more,      ///< the stage or the socket may hold more
  drained,   ///< the socket held no more
  end,       ///< the peer sends nothing more
  failed,    ///< see error()
  violated,  ///< see violation()
};

class FpduReader {
 public:
  FpduReader(UlpduConsumer& consumer, Counters& counters)
      : consumer_(consumer), counters_(counters) {}

  void use_crc(bool use) { crc_in_use_ = use; }
  /// At most one read of the stream, and at most one FPDU completed.
  ReadStatus read(net::ByteStream& stream);
  /// Bytes were read and not yet looked at: the next read() makes no system call.
  bool staged() const { return stage_begin_ != stage_end_; }

  /// Memory for bytes that nobody looks at, once nothing is read any more.
  std::span<std::byte> unused() const { return stage_.span(); }

  int error() const { return error_; }
  const Violation& violation() const { return violation_; }
  /// The segment in progress, to be quoted in a Terminate message. Empty between FPDUs.
  OffendingSegment segment() const;
  /// Whether the stream may end here.
  bool between_fpdus() const { return header_have_ == 0 && !staged(); }
  /// Bytes of whole FPDUs so far: the position of the one in progress.
  std::uint64_t position() const { return position_; }

 private:
  static constexpr std::size_t kLookahead = kUlpduLengthField + kTaggedHeader;
  static constexpr std::size_t kMaxHeader = kUlpduLengthField + kUntaggedHeader;
  static constexpr std::size_t kMaxTrailer = kFpduAlignment - 1 + kCrcField;
  /// Payload of an FPDU that is worth a system call of its own.
  static constexpr std::size_t kCopyAtMost = 16 * 1024;
  /// Bytes that one read takes of small FPDUs: this many; kStage after a read that was filled.
  static constexpr std::size_t kFirstWindow = 16 * 1024;
  static constexpr std::size_t kStage = 64 * 1024;

  ReadStatus read_stream(net::ByteStream& stream);
  std::size_t stage_wanted() const;
  std::size_t take(std::span<std::byte> into);
  Checked<> advance();
  Checked<> start();
  Checked<> finish();
  Checked<> check_crc() const;

  UlpduConsumer& consumer_;
  Counters& counters_;
  bool crc_in_use_ = true;
  bool started_ = false;  // the header is known and the payload has its place
  bool drained_ = false;  // the last read of the stream took all that was there
  std::array<std::byte, kMaxHeader> header_{};
  std::size_t header_size_ = kLookahead;
  std::size_t header_have_ = 0;
  std::span<std::byte> payload_;
  std::size_t payload_have_ = 0;
  std::array<std::byte, kMaxTrailer> trailer_{};  // pad, CRC
  std::size_t trailer_size_ = 0;
  std::size_t trailer_have_ = 0;
  UndumpedBytes stage_{kStage};
  std::size_t stage_begin_ = 0;
  std::size_t stage_end_ = 0;
  std::size_t window_ = kFirstWindow;  // 0: the last FPDU was large
  std::uint64_t position_ = 0;
  int error_ = 0;
  Violation violation_;
};

}  // namespace nfsrdma::fabric::iwarp
