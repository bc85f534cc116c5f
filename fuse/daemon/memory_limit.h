// How much memory this process may have, and how many inodes fit into a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nfsrdma::fuse {

/// Bytes: the machine's memory, or less where a cgroup of this process, or one above it, is
/// limited (memory.max and memory.high of version 2, memory.limit_in_bytes of version 1). What
/// cannot be read limits nothing. `root` holds proc and sys.
std::uint64_t memory_limit(const std::string& root = {});

/// The most inodes of a mount that may have so many bytes of memory.
std::size_t default_inodes(std::uint64_t memory);

}  // namespace nfsrdma::fuse
