// The counters of each NFS operation, as rows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuse/ctl/counters.h"

namespace nfsrdma::ctl {

/// Microseconds.
struct Times {
  std::uint64_t sum = 0;  ///< of all requests; never goes back
  std::uint64_t mean = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t longest = 0;
};

/// Statistics of the requests for one operation since the mount began.
struct PerOperation {
  std::string name;  ///< as in RFC 8881, "READ"
  std::uint64_t requests = 0;
  std::uint64_t sends = 0;  ///< more than requests: sent again
  std::uint64_t delays = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t errors = 0;
  std::vector<std::pair<std::string, std::uint64_t>> failures;  ///< by status
  Times queue;
  Times round_trip;
  Times execute;
};

/// Of the operations that have been used, by name.
std::vector<PerOperation> per_operation(const Counters& counters);

/// The operations between two looks, those with the longest total time first. An operation that was
/// used before and has fewer requests now belongs to another mount: all of it counts.
std::vector<PerOperation> since(const std::vector<PerOperation>& before,
                                const std::vector<PerOperation>& now);

/// For a terminal: rates and mean times of the operations done in so many seconds.
std::string rate_table(const std::vector<PerOperation>& done, double seconds);

/// For a terminal: one line an operation, then one for each kind of failure.
std::string operation_table(const std::vector<PerOperation>& operations);

/// An array of objects.
std::string operations_as_json(const std::vector<PerOperation>& operations);

}  // namespace nfsrdma::ctl
