// RPC messages as NFS over TCP has them (RFC 5531 section 11): whole, behind a record mark.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "transport/tcp/record_mark.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::recording {

/// Views of one message, in order. Valid as long as the message.
class RecordedMessage {
 public:
  /// A message that is encoded here, with the DDP-eligible items that it leaves out.
  explicit RecordedMessage(const xdr::Encoder& message);
  /// A message that was received. Bytes placed by RDMA belong at the end of the message: READ is
  /// the last operation of each COMPOUND that has one.
  explicit RecordedMessage(const xdr::Decoder& message);
  RecordedMessage(const RecordedMessage&) = delete;
  RecordedMessage& operator=(const RecordedMessage&) = delete;

  /// With the record mark.
  std::span<const iovec> pieces() const { return pieces_; }
  std::size_t size() const { return size_; }

 private:
  void add(std::span<const std::byte> piece);
  void add_padded(std::span<const std::byte> item);
  void add_mark();

  std::array<std::byte, tcp::RecordMark::kSize> mark_{};
  std::vector<iovec> pieces_;
  std::size_t size_ = 0;
};

}  // namespace nfsrdma::recording
