// The receiving half of MPA: finds FPDUs in whatever pieces TCP delivers, has each payload read
// straight to where it belongs, and checks the CRC (RFC 5044 section 4).
//
// A read never takes more than it knows the place of: at most kLookahead bytes of the next FPDU,
// which is the length field and a tagged header, come along with the end of this one. No FPDU is
// shorter than that, so a complete FPDU never waits in here unseen by epoll.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
  more,      ///< the socket may hold more
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
  /// One read of the stream, and whatever it completes.
  ReadStatus read(net::ByteStream& stream);

  int error() const { return error_; }
  const Violation& violation() const { return violation_; }
  /// The segment in progress, to be quoted in a Terminate message. Empty between FPDUs.
  OffendingSegment segment() const;
  /// Whether the stream may end here.
  bool between_fpdus() const { return header_have_ == 0; }
  /// Bytes of whole FPDUs so far: the position of the one in progress.
  std::uint64_t position() const { return position_; }

 private:
  static constexpr std::size_t kLookahead = kUlpduLengthField + kTaggedHeader;
  static constexpr std::size_t kMaxHeader = kUlpduLengthField + kUntaggedHeader;
  static constexpr std::size_t kMaxTrailer = kFpduAlignment - 1 + kCrcField;

  std::size_t missing(std::array<iovec, 3>& parts);
  void distribute(std::size_t bytes);
  Checked<> advance();
  Checked<> start();
  Checked<> finish();
  Checked<> check_crc() const;
  bool whole() const;

  UlpduConsumer& consumer_;
  Counters& counters_;
  bool crc_in_use_ = true;
  bool started_ = false;  // the header is known and the payload has its place
  std::array<std::byte, kMaxHeader> header_{};
  std::size_t header_size_ = kLookahead;
  std::size_t header_have_ = 0;
  std::span<std::byte> payload_;
  std::size_t payload_have_ = 0;
  std::array<std::byte, kMaxTrailer + kLookahead> tail_{};  // pad, CRC, start of the next FPDU
  std::size_t trailer_size_ = 0;
  std::size_t tail_have_ = 0;
  std::uint64_t position_ = 0;
  int error_ = 0;
  Violation violation_;
};

}  // namespace nfsrdma::fabric::iwarp
