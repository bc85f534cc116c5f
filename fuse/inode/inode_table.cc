#include "fuse/inode/inode_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "client/state/file_handle_hash.h"
#include "fuse/inode/file.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::size_t kFirstBuckets = 1024;  // a power of two

bool same_file(const Inode& inode, std::uint64_t fileid, std::uint32_t mode) {
  if (!inode.attributes().known()) return true;
  const auto& known = inode.attributes().value();
  return known.fileid == fileid && (known.mode & S_IFMT) == (mode & S_IFMT);
}

bool any_writable(OpenInode& open) {
  bool any = false;
  open.files.for_each([&any](File& file) { any |= file.writable(); });
  return any;
}

}  // namespace

bool Inode::is_directory() const { return S_ISDIR(attributes_.value().mode); }

void Inode::kernel_told_size(std::uint64_t size) {
  if (!std::exchange(size_told_, true)) {
    kernel_size_ = size;
  } else if (kernel_size_ && *kernel_size_ != size) {
    kernel_size_.reset();
  }
}

void Inode::pages_cached(PageRange bytes) {
  pages_end_ = std::max(pages_end_, bytes.end);
  pages_end_since_drop_ = std::max(pages_end_since_drop_, bytes.end);
  pages_.add(bytes);
}

void Inode::drop_begins() {
  if (drops_++ > 0) return;
  pages_end_since_drop_ = 0;
  pages_.drops_begin();
  if (const auto open = open_.lock()) open->after_drop.drops_begin();
}

void Inode::watch_writes() {
  const auto open = open_.lock();
  if (open && any_writable(*open)) open->after_drop.watch();
}

void Inode::drop_ends(PageRange dropped) {
  --drops_;
  pages_.dropped(dropped);
  const auto open = open_.lock();
  if (open && dropped == PageRange::all()) open->after_drop.dropped_all();
  if (drops_ > 0 || dropped.end != PageRange::all().end) return;
  pages_end_ = std::max(std::min(pages_end_, dropped.begin), pages_end_since_drop_);
}

void Inode::follow_pages(std::uint64_t before, std::uint64_t after) {
  if (!pages_known_) return;
  if (const auto open = open_.lock()) {
    pages_change_ = open->own_changes.follow(pages_change_, before, after);
  } else if (pages_change_ == before) {
    pages_change_ = after;
  }
}

void intrusive_ptr_release(Inode* inode) {
  if (--inode->references_ == 0) inode->table_.erase_if_unused(*inode);
}

InodeTable::InodeTable() : buckets_(kFirstBuckets, nullptr) {}

InodeTable::~InodeTable() = default;

Inode& InodeTable::make_root(const client::FileHandle& handle) {
  Inode& root = slab_.emplace(*this, slab_.id_of_next(), handle);
  root.lookups_ = 1;
  insert(root);
  return root;
}

InodeRef InodeTable::find(std::uint64_t id) { return InodeRef(slab_.find(id)); }

InodeRef InodeTable::find(const client::FileHandle& handle) { return InodeRef(lookup(handle)); }

InodeRef InodeTable::obtain(const client::FileHandle& handle, std::uint64_t fileid,
                            std::uint32_t mode) {
  if (Inode* known = lookup(handle)) {
    if (same_file(*known, fileid, mode) || known->id() == kRootId) return InodeRef(known);
    unhash(*known);
  }
  if (slab_.size() >= kMaxInodes) return {};
  if (hashed_ >= buckets_.size()) grow();
  Inode& made = slab_.emplace(*this, slab_.id_of_next(), handle);
  insert(made);
  return InodeRef(&made);
}

void InodeTable::forget(Inode& inode, std::uint64_t count) {
  if (inode.id() == kRootId) return;
  inode.lookups_ -= std::min(inode.lookups_, count);
  if (inode.lookups_ == 0) inode.kernel_knows_no_size();
  erase_if_unused(inode);
}

void InodeTable::erase_if_unused(Inode& inode) {
  if (inode.lookups_ > 0 || inode.references_ > 0) return;
  unhash(inode);
  slab_.erase(inode.id());
}

std::size_t InodeTable::bucket_of(const client::FileHandle& handle) const {
  return client::FileHandleHash{}(handle) & (buckets_.size() - 1);
}

Inode* InodeTable::lookup(const client::FileHandle& handle) {
  Inode* inode = buckets_[bucket_of(handle)];
  while (inode && !(inode->handle() == handle)) inode = inode->hash_next_;
  return inode;
}

void InodeTable::insert(Inode& inode) {
  Inode*& bucket = buckets_[bucket_of(inode.handle())];
  inode.hash_next_ = bucket;
  inode.hashed_ = true;
  bucket = &inode;
  ++hashed_;
}

void InodeTable::unhash(Inode& inode) {
  if (!inode.hashed_) return;
  Inode** link = &buckets_[bucket_of(inode.handle())];
  while (*link != &inode) link = &(*link)->hash_next_;
  *link = inode.hash_next_;
  inode.hashed_ = false;
  --hashed_;
}

void InodeTable::grow() {
  std::vector<Inode*> old(buckets_.size() * 2, nullptr);
  old.swap(buckets_);
  hashed_ = 0;
  for (Inode* inode : old) {
    while (inode) {
      Inode* next = inode->hash_next_;
      insert(*inode);
      inode = next;
    }
  }
}

}  // namespace nfsrdma::fuse
