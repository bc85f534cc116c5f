// What a client of the kernel did, out of the text of its trace events: rpcrdma, sunrpc and nfs4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::lab::import {

/// What an event of nfs4 says of an operation that has ended.
struct Ended {
  std::int64_t error = 0;
  std::uint64_t file = 0;  ///< fileid, or that of the directory
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::string name;
  std::string new_name;  ///< RENAME
};

/// How xprtrdma has sent a call.
struct Marshalled {
  std::uint32_t xid = 0;
  std::uint64_t pages = 0;            ///< bytes of the call's data
  bool long_call = false;             ///< the whole call by a chunk at position 0
  std::vector<std::uint64_t> reads;   ///< bytes of the segments of its Read list
  std::vector<std::uint64_t> writes;  ///< of its Write chunk
  std::vector<std::uint64_t> reply;   ///< of its Reply chunk
};

/// One call, or, without a procedure and with a loss, the end of the connection.
struct TraceStep {
  std::size_t line = 0;   ///< of the text, from 1
  std::string procedure;  ///< as sunrpc calls it: READ, OPEN_NOATTR; empty: not known
  std::optional<Marshalled> rdma;
  std::optional<Ended> ended;
  std::string loss;  ///< status of a Work Completion that has failed
};

struct Trace {
  std::vector<TraceStep> steps;
  std::size_t lines = 0;
  std::size_t events = 0;   ///< lines that are events of one of the three
  std::size_t dropped = 0;  ///< calls above what is kept
};

/// Calls that are kept.
inline constexpr std::size_t kMostSteps = 20000;
/// Segments of a call that are kept.
inline constexpr std::size_t kMostSegments = 256;

/// Reads any text; what is no event is passed over. The text need not outlive the result.
Trace read_trace(std::string_view text);

}  // namespace nfsrdma::lab::import
