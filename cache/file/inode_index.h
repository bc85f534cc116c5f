// All inodes of a mount, by the server's file handle.
#pragma once

#include <cstddef>
#include <vector>

#include "cache/file/inode.h"

namespace nfsrdma::cache {

/// The house above makes the inodes, and derives its own from them. Belongs to one shard. Finding
/// an inode allocates nothing. Outlives its inodes.
class InodeIndex {
 public:
  InodeIndex();
  InodeIndex(const InodeIndex&) = delete;
  InodeIndex& operator=(const InodeIndex&) = delete;

  /// Makes the root, which stays as long as the index. Called once, first.
  Inode& make_root(const client::FileHandle& handle);
  /// Null when the file is not known.
  InodeRef find(const client::FileHandle& handle) const;
  /// Finds or makes. A known handle whose file has another fileid or type (S_IFMT bits) by now is a
  /// new file under a used handle: the old inode is not found any more. Null when there are too
  /// many.
  InodeRef obtain(const client::FileHandle& handle, std::uint64_t fileid, std::uint32_t mode);

 protected:
  ~InodeIndex() = default;
  /// Null when there are too many.
  virtual Inode* make(const client::FileHandle& handle) = 0;
  /// Nothing when it is not there (any more).
  void erase(Inode& inode);

 private:
  void insert(Inode& inode);
  void grow();
  std::size_t bucket_of(const client::FileHandle& handle) const;

  std::vector<Inode*> buckets_;
  std::size_t hashed_ = 0;
  const Inode* root_ = nullptr;
};

}  // namespace nfsrdma::cache
