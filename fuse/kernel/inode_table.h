// All inodes of a mount: found by the kernel's number or by the server's file handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "cache/file/inode_index.h"
#include "fuse/kernel/id_slab.h"
#include "fuse/kernel/inode.h"

namespace nfsrdma::fuse {

/// Belongs to one shard. Finding an inode allocates nothing. The kernel decides how many there are
/// (by its lookup counts), up to a limit.
class InodeTable final : public cache::InodeIndex {
 public:
  static constexpr std::size_t kMaxInodes = std::size_t{1} << 24;
  /// The kernel's number of the root (FUSE_ROOT_ID).
  static constexpr std::uint64_t kRootId = 1;

  /// No more than `most` inodes.
  explicit InodeTable(std::size_t most = kMaxInodes) : most_(most) {}
  InodeTable(const InodeTable&) = delete;
  InodeTable& operator=(const InodeTable&) = delete;
  ~InodeTable();

  using InodeIndex::find;
  /// Null when the kernel names an inode that does not exist.
  InodeRef find(std::uint64_t id) {
    Inode* const inode = slab_.find(id);
    if (inode) inode->use();
    return InodeRef(inode);
  }

  /// The kernel was given this inode once more.
  void count_lookup(Inode& inode) { ++inode.lookups_; }
  /// The kernel has let go of it `count` times (FORGET), or was never told.
  void forget(Inode& inode, std::uint64_t count);

  std::size_t size() const { return slab_.size(); }
  /// Calls `changed` when there is one more, or one less; empty: calls nothing. It must not make
  /// any or let any go.
  void watch_size(std::function<void()> changed) { changed_ = std::move(changed); }
  /// Calls visit(Inode&) for each; visit must not make any or let any go.
  template <class Visit>
  void for_each(Visit&& visit) {
    slab_.for_each(visit);
  }
  /// The same for a part of them, `begin` to the place that is returned; 0 is the first.
  template <class Visit>
  std::size_t visit_part(std::size_t begin, Visit&& visit) {
    constexpr std::size_t kBlocks = 64;
    return slab_.visit_blocks(begin, kBlocks, visit);
  }

 private:
  friend class Inode;
  cache::Inode* make(const client::FileHandle& handle) override;
  void destroy(Inode& inode);

  const std::size_t most_;
  IdSlab<Inode> slab_;
  std::function<void()> changed_;
};

}  // namespace nfsrdma::fuse
