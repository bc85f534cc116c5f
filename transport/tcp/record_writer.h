// The sending half of record marking: each message goes out as one fragment, gathered from where
// its bytes lie, with one system call as long as the kernel takes it whole.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/intrusive_list.h"
#include "transport/net/byte_stream.h"
#include "transport/tcp/record_mark.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::tcp {

/// One message on its way out. The memory it names stays untouched until on_sent(), or until the
/// connection is gone (I4).
class Outgoing : public ListNode {
 public:
  /// The kernel has taken all bytes. May come from within RecordWriter::send.
  virtual void on_sent() = 0;

  /// The message is what `message` has encoded, with the omitted items in their places.
  void set_message(const xdr::Encoder& message);
  /// Bytes of the message that were not in the encoder's memory.
  std::size_t payload_bytes() const { return payload_bytes_; }

  // For the writer.
  std::span<iovec> pending() { return {&pieces_[first_], count_ - first_}; }
  /// `bytes` bytes have gone. False when something is left.
  bool advance(std::size_t bytes);

 protected:
  ~Outgoing() = default;

 private:
  /// The mark; around each omitted item the bytes before it, the item, its pad; the rest.
  static constexpr std::size_t kMaxPieces = 2 + 3 * xdr::Encoder::kMaxOmitted;

  void add(std::span<const std::byte> piece);

  std::array<std::byte, RecordMark::kSize> mark_{};
  std::array<iovec, kMaxPieces> pieces_{};
  std::size_t count_ = 0;
  std::size_t first_ = 0;
  std::size_t length_ = 0;  // of the message
  std::size_t payload_bytes_ = 0;
};

enum class WriteStatus : std::uint8_t {
  idle,     ///< everything has been sent
  blocked,  ///< the kernel takes no more now
  failed,   ///< see error()
};

class RecordWriter {
 public:
  /// Sends the message, or as much as the kernel takes now, behind the messages that still wait.
  WriteStatus send(net::ByteStream& stream, Outgoing& message);
  /// Sends more of the waiting messages.
  WriteStatus flush(net::ByteStream& stream);
  /// The connection is gone: forgets waiting messages, without on_sent().
  void clear();

  bool idle() { return waiting_.empty(); }
  int error() const { return error_; }  ///< errno value

 private:
  IntrusiveList<Outgoing> waiting_;
  int error_ = 0;
};

}  // namespace nfsrdma::tcp
