// Options of the RPC-over-RDMA transport. One object per server, fixed while it is used.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/properties.h"

namespace nfsrdma::rdma {

/// Which version of RPC-over-RDMA a connection speaks.
enum class VersionChoice : std::uint8_t {
  one,        ///< version 1, without asking
  two,        ///< version 2, or no connection
  automatic,  ///< version 2 if the server speaks it, else version 1
};

struct Options {
  VersionChoice version = VersionChoice::one;
  /// Version 2: which property operations are supported, by opttype (properties.h).
  std::array<bool, kOptionTypes> property_operations = {false, true, true, true, true};
  /// How long the first message of version 2 waits for its answer.
  Duration version_patience = std::chrono::seconds(5);
  /// Largest message this side sends and takes: whole KiB, 1024 to 262144. Version 1 announces them
  /// per RFC 8797; version 2 as properties, at most 64 KiB, and always takes 4096 bytes.
  std::size_t send_size = 4096;
  std::size_t receive_size = 4096;
  /// Credits asked for in every Call: the most Calls that will ever be open at once. Not 0.
  std::uint32_t credits = 64;
  /// Callbacks taken at once, and the grant in every backward message (RFC 8167). Not 0.
  std::uint32_t backward_credits = 16;
  /// Read chunks beside the Position Zero chunk that the server is known to take (RFC 8267 section
  /// 6.4.2). Further DDP-eligible arguments stay in the message.
  std::uint32_t max_read_chunks = 1;
  /// Splits chunks into segments of at most this many bytes; 0: one segment a chunk.
  std::size_t max_segment_length = 0;
  /// Let the server invalidate our handles, where the provider makes that safe.
  bool remote_invalidation = true;
  /// For the provider. private_data is filled in by the transport.
  fabric::EndpointOptions endpoint;
};

/// Bytes of the largest answer to a callback, however much the server takes.
inline constexpr std::size_t kMaxBackwardReply = 4096;

/// Bytes of the largest message that can arrive.
inline std::size_t largest_receive(const Options& options) {
  if (options.version == VersionChoice::one) return options.receive_size;
  return std::max<std::size_t>(options.receive_size, kMinReceiveBufferSize);
}

/// Receives kept posted for RDMA_OPTIONAL and its errors, which no credit counts (F-14).
inline std::size_t spare_receives(const Options& options) {
  return options.version == VersionChoice::one ? 0 : 2;
}

}  // namespace nfsrdma::rdma
