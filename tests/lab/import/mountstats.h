// How often a mount has used each operation, out of the text of /proc/self/mountstats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::lab::import {

struct OperationCount {
  std::string name;  ///< READ, OPEN_NOATTR
  std::uint64_t requests = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

/// One mount of the text.
struct MountStatistics {
  std::string mount_point;
  std::vector<OperationCount> operations;

  std::uint64_t requests() const;
};

/// NFS mounts and operations of each that are kept.
inline constexpr std::size_t kMostMounts = 1024;
inline constexpr std::size_t kMostOperations = 128;

/// Reads any text: mounts of NFS that have statistics by operation.
std::vector<MountStatistics> read_mountstats(std::string_view text);

}  // namespace nfsrdma::lab::import
