// The COMPOUNDs of one client out of a capture, with their answers: what is issued again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::lab::replay {

/// A COMPOUND of the capture. Bytes are those of its arguments and of its results, in XDR.
struct Exchange {
  std::uint64_t call_frame = 0;
  std::uint64_t reply_frame = 0;  ///< 0: the capture has no answer
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool auth_none = false;
  std::vector<std::byte> arguments;
  std::vector<std::byte> results;
};

struct Recording {
  std::vector<Exchange> exchanges;  ///< in the order of their calls
  std::uint64_t client = 0;    ///< the id that the server gave; 0: the capture does not have it
  std::size_t clients = 0;     ///< clients that the capture has
  bool back_channel = false;   ///< the client took callbacks
  std::size_t repeated = 0;    ///< calls sent again, of which only the first counts
  std::size_t refused = 0;     ///< calls whose SEQUENCE failed: nothing of them was executed
  std::size_t incomplete = 0;  ///< calls of which the capture lacks data that went by RDMA
  std::uint64_t frames = 0;
  std::string damaged;  ///< why the file could not be read to its end; empty: it was
};

/// Bytes of calls and answers that are kept; a longer capture is refused.
inline constexpr std::size_t kMostKept = std::size_t{256} << 20;

/// Reads the capture `path`, of any form that `convert` reads. `client` is the number of the client
/// in the order of the capture, from 1; 0 is the one with the most COMPOUNDs. Blocks until the file
/// is read.
Result<Recording> read_recording(const std::string& path, std::size_t client);
/// The same of a stream, which it takes over.
Result<Recording> read_recording(std::FILE* stream, std::size_t client);

}  // namespace nfsrdma::lab::replay
