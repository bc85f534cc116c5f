#include "fuse/kernel/inode_table.h"

#include <sys/stat.h>

#include <algorithm>

#include "cache/file/file.h"

namespace nfsrdma::fuse {
namespace {

bool same_file(const Inode& inode, std::uint64_t fileid, std::uint32_t mode) {
  if (!inode.attributes().known()) return true;
  const auto& known = inode.attributes().value();
  return known.fileid == fileid && (known.mode & S_IFMT) == (mode & S_IFMT);
}

}  // namespace

void Inode::watch_writes() {
  const auto open = this->open();
  const auto seen = view_.open();
  if (open && seen && open->any_writer()) seen->after_drop.watch();
}

void Inode::unused() { table_.erase(*this); }

Inode& InodeTable::make_root(const client::FileHandle& handle) {
  Inode& root = slab_.emplace(*this, slab_.id_of_next(), handle);
  root.lookups_ = 1;
  index_.insert(root);
  return root;
}

InodeRef InodeTable::find(std::uint64_t id) { return InodeRef(slab_.find(id)); }

InodeRef InodeTable::find(const client::FileHandle& handle) {
  const cache::InodeRef inode = index_.find(handle);
  return inode ? InodeRef(&with_view(*inode)) : InodeRef();
}

InodeRef InodeTable::obtain(const client::FileHandle& handle, std::uint64_t fileid,
                            std::uint32_t mode) {
  if (InodeRef known = find(handle)) {
    if (same_file(*known, fileid, mode) || known->id() == kRootId) return known;
    index_.erase(*known);
  }
  if (slab_.size() >= kMaxInodes) return {};
  Inode& made = slab_.emplace(*this, slab_.id_of_next(), handle);
  index_.insert(made);
  return InodeRef(&made);
}

void InodeTable::forget(Inode& inode, std::uint64_t count) {
  if (inode.id() == kRootId) return;
  inode.lookups_ -= std::min(inode.lookups_, count);
  if (inode.lookups_ == 0) inode.view().forgot_size();
  if (inode.lookups_ == 0 && !inode.referenced()) erase(inode);
}

void InodeTable::erase(Inode& inode) {
  index_.erase(inode);
  slab_.erase(inode.id());
}

}  // namespace nfsrdma::fuse
