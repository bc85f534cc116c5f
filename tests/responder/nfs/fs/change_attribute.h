// The change attribute (RFC 8881 section 5.8.1.4): a value that differs after every change.
//
// The kernel's ctime advances once per clock tick only, so two changes within one tick look like
// none. The value is therefore ctime in nanoseconds plus the number of changes this service made to
// the inode: both parts only grow. Changes by other processes within one tick of each other cannot
// be told apart, here as with any server on such a kernel.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "tests/responder/nfs/fs/file_stat.h"

namespace nfsrdma::responder {

class ChangeCounters {
 public:
  /// This service has changed the inode.
  void bump(const InodeKey& key);
  std::uint64_t value(const FileStat& stat) const;

 private:
  // Inodes remembered; the first to have been changed are forgotten first.
  static constexpr std::size_t kMaxRemembered = 1 << 18;

  std::unordered_map<InodeKey, std::uint64_t, InodeKeyHash> changes_;
  std::deque<InodeKey> order_;
};

}  // namespace nfsrdma::responder
