// What the RPC-over-RDMA transport can be told. One object per server, fixed while it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/fabric/fabric.h"

namespace nfsrdma::rdma {

struct Options {
  /// Largest message this side sends and takes, announced per RFC 8797: whole KiB, 1024 to 262144.
  std::size_t send_size = 4096;
  std::size_t receive_size = 4096;
  /// Credits asked for in every Call: the most Calls that will ever be open at once. Not 0.
  std::uint32_t credits = 64;
  /// Callbacks taken at once, and the grant in every backward message (RFC 8167). Not 0.
  std::uint32_t backward_credits = 16;
  /// Read chunks beside the Position Zero chunk that the server is known to take (RFC 8267 section
  /// 6.4.2). Further DDP-eligible arguments stay in the message.
  std::uint32_t max_read_chunks = 1;
  /// Splits chunks into segments of at most this many octets; 0: one segment a chunk.
  std::size_t max_segment_length = 0;
  /// Let the server invalidate our handles, where the provider makes that safe.
  bool remote_invalidation = true;
  /// For the provider. private_data is filled in by the transport.
  fabric::EndpointOptions endpoint;
};

}  // namespace nfsrdma::rdma
