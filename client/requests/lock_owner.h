// Lock owners, and the byte ranges they lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nfsrdma::client {

/// Bytes `first` to `last`, both included, so that the last byte of all can be named.
struct ByteRange {
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  std::uint64_t first = 0;
  std::uint64_t last = kEnd;

  static constexpr ByteRange whole_file() { return {}; }
  /// As a length on the wire: all ones means "to any end" (RFC 8881 section 18.10.3).
  std::uint64_t wire_length() const { return last == kEnd ? kEnd : last - first + 1; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// fcntl locks belong to a process, flock locks to an open file description; on the server they are
/// byte-range locks both, of owners that differ.
enum class LockKind : std::uint8_t { posix, flock };

/// A lock-owner as the file system above names it: unique in the mount while it holds a lock.
struct LockOwner {
  LockKind kind = LockKind::posix;
  std::uint64_t id = 0;
  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

/// lock_owner4::owner for a LockOwner.
class LockOwnerText {
 public:
  /// The server shows a lock's owner to whom it is in the way of, and the Linux client (seen with
  /// 6.12 and 7.3) has room for as many bytes as its own owners have: with more its programs get
  /// EIO, not EAGAIN.
  static constexpr std::size_t kBytes = 20;

  explicit LockOwnerText(const LockOwner& owner);
  std::span<const std::byte> bytes() const { return bytes_; }
  /// The owner with this text; nothing when it is none of this client's.
  static std::optional<LockOwner> owner_of(std::span<const std::byte> text);

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace nfsrdma::client
