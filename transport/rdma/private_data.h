// The message that both ends exchange in the connection manager's private data (RFC 8797): receive
// and send sizes, and whether the peer may invalidate our handles. Valid for one connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::rdma {

/// Inline threshold where nothing else is known (RFC 8166 section 3.3.3).
inline constexpr std::size_t kDefaultThreshold = 1024;
inline constexpr std::size_t kPrivateDataSize = 8;
/// Sizes travel as a multiple of this, less one, in one byte.
inline constexpr std::size_t kSizeUnit = 1024;
inline constexpr std::size_t kMaxThreshold = 256 * kSizeUnit;

/// Announcement of one end. The defaults hold for a peer that announces nothing (section 5.1).
struct PrivateData {
  bool remote_invalidation = false;              ///< the R bit
  std::size_t send_size = kDefaultThreshold;     ///< largest message it sends
  std::size_t receive_size = kDefaultThreshold;  ///< largest message it takes
};

/// The inline thresholds of one connection, and whether replies may invalidate a handle.
struct Thresholds {
  std::size_t call = kDefaultThreshold;   ///< bytes from the client to the server
  std::size_t reply = kDefaultThreshold;  ///< bytes from the server to the client
  bool remote_invalidation = false;
};

/// Sizes are rounded down to whole units and kept between 1024 and 262144.
std::array<std::byte, kPrivateDataSize> encode_private_data(const PrivateData& data);

/// Searches the whole buffer, at any byte offset, for the format identifier (section 5.2).
/// Anything that is not a whole message of version 1 counts as absent: the defaults are returned.
PrivateData decode_private_data(std::span<const std::byte> buffer);

/// Thresholds of both directions, from both announcements (section 4.2). Remote invalidation is the
/// server's choice (section 4.1); a client that has announced it always accepts it.
Thresholds agree(const PrivateData& client, const PrivateData& server);

}  // namespace nfsrdma::rdma
