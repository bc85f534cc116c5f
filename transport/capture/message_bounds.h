// Where the messages of a byte stream end, for a file of a ring that is to begin with one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nfsrdma::capture {

/// What a flow carries.
enum class Carried : std::uint8_t {
  messages,   ///< a byte stream; each call has one or several whole messages
  records,    ///< a byte stream of record marks (RFC 5531 section 11)
  mpa,        ///< a startup frame, then FPDUs without markers (RFC 5044)
  datagrams,  ///< each call has one
};

/// One direction of a stream. Checks nothing: in a stream that carries something else, it finds
/// ends that mean nothing.
class MessageBounds {
 public:
  explicit MessageBounds(Carried carried) : carried_(carried), startup_(carried == Carried::mpa) {}

  /// Takes bytes up to the end of the present message; returns how many.
  std::size_t take(std::span<const std::byte> bytes);
  /// The next byte begins a message.
  bool between() const { return have_ == 0 && left_ == 0 && !more_; }
  /// The startup frame, of Carried::mpa, as far as it was taken.
  std::span<const std::byte> startup() const { return startup_bytes_; }

 private:
  static constexpr std::size_t kLongestHead = 20;

  std::size_t head_size() const;
  void read_head();

  const Carried carried_;
  bool startup_;
  std::array<std::byte, kLongestHead> head_{};
  std::size_t have_ = 0;    // of the head
  std::uint64_t left_ = 0;  // of the message behind it
  bool more_ = false;       // a fragment of the same record follows
  std::vector<std::byte> startup_bytes_;
};

}  // namespace nfsrdma::capture
