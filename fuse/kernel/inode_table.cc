#include "fuse/kernel/inode_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "cache/file/file.h"

namespace nfsrdma::fuse {

void Inode::watch_writes() {
  const auto open = this->open();
  const auto seen = view_.open();
  if (open && seen && open->any_writer()) seen->after_drop.watch();
}

void Inode::led_by(cache::InodeRef directory, std::string_view name) {
  if (!S_ISREG(attributes().value().mode)) return;
  if (!name_) name_.emplace();
  name_->directory = std::move(directory);
  name_->name = name;
}

void Inode::forget_name(const cache::Inode& directory, std::string_view name) {
  if (name_ && name_->directory == &directory && name_->name == name) name_.reset();
}

void Inode::unused() { table_.destroy(*this); }

// A directory may be kept by the name of a file alone, and goes with it: while the table is whole.
InodeTable::~InodeTable() {
  std::vector<cache::InodeRef> directories;
  for_each([&](Inode& inode) {
    if (inode.name_) directories.push_back(std::move(inode.name_->directory));
    inode.name_.reset();
  });
}

cache::Inode* InodeTable::make(const client::FileHandle& handle) {
  if (slab_.size() >= most_) return nullptr;
  Inode* const made = &slab_.emplace(*this, slab_.id_of_next(), handle);
  if (changed_) changed_();
  return made;
}

void InodeTable::forget(Inode& inode, std::uint64_t count) {
  if (inode.id() == kRootId) return;
  inode.lookups_ -= std::min(inode.lookups_, count);
  if (inode.lookups_ == 0) inode.view().forgot_size();
  // A name leads to an inode that the kernel has: it remembers this one no longer.
  if (inode.lookups_ == 0 && inode.name_) {
    AdvertisedNames* const names = with_view(*inode.name_->directory).view().names();
    if (names) names->forget(inode.name_->name, inode.id());
  }
  if (inode.lookups_ == 0 && !inode.referenced()) destroy(inode);
}

void InodeTable::destroy(Inode& inode) {
  erase(inode);
  slab_.erase(inode.id());
  if (changed_) changed_();
}

}  // namespace nfsrdma::fuse
