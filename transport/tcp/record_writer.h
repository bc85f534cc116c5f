// The sending half of record marking: each message goes out as one fragment, gathered from where
// its bytes lie; messages that wait go out together, with one system call.
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
  /// The kernel has taken all bytes. Comes from within RecordWriter::flush.
  virtual void on_sent() = 0;

  /// The message is what `message` has encoded, with the omitted items in their places.
  void set_message(const xdr::Encoder& message);
  /// Bytes of the message that were not in the encoder's memory.
  std::size_t payload_bytes() const { return payload_bytes_; }

  // For the writer.
  /// The mark; around each omitted item the bytes before it, the item, its pad; the rest.
  static constexpr std::size_t kMaxPieces = 2 + 3 * xdr::Encoder::kMaxOmitted;
  std::span<iovec> pending() { return {&pieces_[first_], count_ - first_}; }
  bool gone() const { return first_ == count_; }
  /// Some of its bytes have gone.
  bool begun() const { return begun_; }
  /// Bytes have gone. Returns how many of them were not of this message.
  std::size_t advance(std::size_t bytes);
  /// Of the whole record.
  std::size_t record_bytes() const { return mark_.size() + length_; }

 protected:
  ~Outgoing() = default;

 private:
  void add(std::span<const std::byte> piece);

  std::array<std::byte, RecordMark::kSize> mark_{};
  std::array<iovec, kMaxPieces> pieces_{};
  std::size_t count_ = 0;
  std::size_t first_ = 0;
  std::size_t length_ = 0;  // of the message
  std::size_t payload_bytes_ = 0;
  bool begun_ = false;
};

enum class WriteStatus : std::uint8_t {
  idle,     ///< everything has been sent
  blocked,  ///< the kernel takes no more now
  failed,   ///< see error()
};

class RecordWriter {
 public:
  /// The message goes behind those that wait, with the next flush().
  void add(Outgoing& message);
  /// The message goes before those of which nothing has gone, but for others added so.
  void add_urgent(Outgoing& message);
  /// Sends what waits, as far as the kernel takes it now.
  WriteStatus flush(net::ByteStream& stream);
  /// The connection is gone: forgets waiting messages, without on_sent().
  void clear();

  std::size_t waiting() const { return waiting_.size() + urgent_.size(); }  ///< messages
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  int error() const { return error_; }  ///< errno value

 private:
  /// Of one system call. Those of one message always fit.
  static constexpr std::size_t kMostPieces = 64;
  static_assert(kMostPieces >= Outgoing::kMaxPieces);

  bool empty() const { return waiting_.empty() && urgent_.empty(); }
  bool goes_on() { return !waiting_.empty() && waiting_.front().begun(); }
  std::span<iovec> gather();
  Outgoing& next() { return goes_on() || urgent_.empty() ? waiting_.front() : urgent_.front(); }
  void took(std::size_t bytes);

  IntrusiveList<Outgoing> waiting_;
  IntrusiveList<Outgoing> urgent_;
  std::size_t waiting_bytes_ = 0;
  std::array<iovec, kMostPieces> pieces_{};
  int error_ = 0;
};

}  // namespace nfsrdma::tcp
