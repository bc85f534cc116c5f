// Inodes by the server's file handle.
#pragma once

#include <cstddef>
#include <vector>

#include "cache/file/inode.h"

namespace nfsrdma::cache {

/// Belongs to one shard. Finding an inode allocates nothing. Outlives its inodes.
class InodeIndex {
 public:
  InodeIndex();
  InodeIndex(const InodeIndex&) = delete;
  InodeIndex& operator=(const InodeIndex&) = delete;

  /// Null when the file is not known.
  InodeRef find(const client::FileHandle& handle) const;
  /// No other inode has its handle.
  void insert(Inode& inode);
  /// Nothing when it is not there (any more).
  void erase(Inode& inode);

 private:
  void grow();
  std::size_t bucket_of(const client::FileHandle& handle) const;

  std::vector<Inode*> buckets_;
  std::size_t hashed_ = 0;
};

}  // namespace nfsrdma::cache
