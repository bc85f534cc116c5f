// The RPCs of a capture as NFS over TCP: the second view, whatever the first was.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/lab/capture/conversation.h"
#include "transport/base/result.h"
#include "transport/capture/sink.h"

namespace nfsrdma::lab {

/// What was written, and what was not.
struct ConvertSummary {
  std::uint64_t frames = 0;
  std::size_t connections = 0;
  std::uint64_t messages = 0;
  std::uint64_t incomplete = 0;  ///< left out: the capture lacks data that went by RDMA
  std::uint64_t guessed = 0;     ///< data was put behind results that do not decode
  std::uint64_t broken = 0;      ///< messages that decode as nothing
  std::string damaged;           ///< CaptureSummary::damaged
};

/// Reads the capture `from` and writes each RPC of it, whole and with its own time, to `to`, as
/// NFS over TCP on port 2049. Refuses to write over what it reads.
Result<ConvertSummary> convert_to_rpc_view(const std::string& from, const std::string& to);

}  // namespace nfsrdma::lab
