// Events for the house above, which shows files to programs and remembers what it has shown.
#pragma once

#include <cstdint>

#include "cache/file/inode.h"
#include "transport/base/task.h"

namespace nfsrdma::cache {

/// One for each mount. Called on the shard, within the operation that found it out. An
/// implementation of an on_...() must not wait or call back.
class InodeObserver {
 public:
  /// A change made here led the file from version `before` to `after` (change attributes): data
  /// kept of the one are right for the other.
  virtual void on_own_change(Inode& inode, std::uint64_t before, std::uint64_t after) = 0;
  /// Others may have changed which names the directory has.
  virtual void on_names_changed(Inode& directory) = 0;
  /// Attributes that were shown must be fetched again.
  virtual void on_attributes_doubted(Inode& inode) = 0;
  /// The server's data of the file are others than those that were shown, and it has the change
  /// attribute of before.
  virtual void on_changed_unseen(Inode& inode) = 0;
  /// Returns when programs' stores to mappings of the file have come as writes: they precede the
  /// return of a write delegation. Stores may be left out while the file is being truncated, since
  /// the truncation may wait for that return.
  virtual Task<void> write_stores(InodeRef inode) = 0;

 protected:
  ~InodeObserver() = default;
};

}  // namespace nfsrdma::cache
