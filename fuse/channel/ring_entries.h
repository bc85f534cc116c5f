// The entries of FUSE's io_uring, and their memory.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fuse/channel/ring_entry.h"
#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// Queues that the kernel wants: it makes one for each processor that could be there. Fails without
/// sysfs.
Result<unsigned> possible_processors();

/// Some entries of one queue, made together.
class RingEntries {
 public:
  /// Address space for the payloads, of which only what requests use becomes memory.
  static Result<std::unique_ptr<RingEntries>> create(RingCommits& commits, std::uint16_t queue,
                                                     std::size_t count);
  RingEntries(const RingEntries&) = delete;
  RingEntries& operator=(const RingEntries&) = delete;
  ~RingEntries();

  std::deque<RingEntry>& all() { return entries_; }

 private:
  RingEntries(std::byte* base, std::size_t count) : base_(base), headers_(count) {}

  std::byte* const base_;
  std::vector<RingHeaders> headers_;
  std::deque<RingEntry> entries_;
};

}  // namespace nfsrdma::fuse
