// All inodes of a mount: found by the kernel's number or by the server's file handle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/file/inode_index.h"
#include "fuse/kernel/id_slab.h"
#include "fuse/kernel/inode.h"

namespace nfsrdma::fuse {

/// Belongs to one shard. Finding an inode allocates nothing. The kernel decides how many there are
/// (by its lookup counts), up to kMaxInodes.
class InodeTable {
 public:
  static constexpr std::size_t kMaxInodes = std::size_t{1} << 24;
  /// The kernel's number of the root (FUSE_ROOT_ID).
  static constexpr std::uint64_t kRootId = 1;

  /// `index` outlives the inodes.
  explicit InodeTable(cache::InodeIndex& index) : index_(index) {}
  InodeTable(const InodeTable&) = delete;
  InodeTable& operator=(const InodeTable&) = delete;

  /// Makes the root, which stays as long as the table. Called once, first.
  Inode& make_root(const client::FileHandle& handle);

  /// Null when the kernel names an inode that does not exist.
  InodeRef find(std::uint64_t id);
  /// Null when the file is not known.
  InodeRef find(const client::FileHandle& handle);
  /// Finds or makes. A known handle whose file has another fileid or type by now is a new file
  /// under a used handle: the old inode is left to the kernel to forget. Null at kMaxInodes.
  InodeRef obtain(const client::FileHandle& handle, std::uint64_t fileid, std::uint32_t mode);

  /// The kernel was given this inode once more.
  void count_lookup(Inode& inode) { ++inode.lookups_; }
  /// The kernel has let go of it `count` times (FORGET), or was never told.
  void forget(Inode& inode, std::uint64_t count);

  std::size_t size() const { return slab_.size(); }

 private:
  friend class Inode;
  void erase(Inode& inode);

  cache::InodeIndex& index_;
  IdSlab<Inode> slab_;
};

}  // namespace nfsrdma::fuse
