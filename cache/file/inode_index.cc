#include "cache/file/inode_index.h"

#include <sys/stat.h>

#include "client/state/file_handle_hash.h"

namespace nfsrdma::cache {
namespace {

constexpr std::size_t kFirstBuckets = 1024;  // a power of two

bool same_file(const Inode& inode, std::uint64_t fileid, std::uint32_t mode) {
  if (!inode.attributes().known()) return true;
  const FileAttributes& known = inode.attributes().value();
  return known.fileid == fileid && (known.mode & S_IFMT) == (mode & S_IFMT);
}

}  // namespace

InodeIndex::InodeIndex() : buckets_(kFirstBuckets, nullptr) {}

std::size_t InodeIndex::bucket_of(const client::FileHandle& handle) const {
  return client::FileHandleHash{}(handle) & (buckets_.size() - 1);
}

InodeRef InodeIndex::find(const client::FileHandle& handle) const {
  Inode* inode = buckets_[bucket_of(handle)];
  while (inode && !(inode->handle() == handle)) inode = inode->hash_next_;
  return InodeRef(inode);
}

Inode& InodeIndex::make_root(const client::FileHandle& handle) {
  Inode& root = *make(handle);
  root.lookups_ = 1;
  root_ = &root;
  insert(root);
  return root;
}

InodeRef InodeIndex::obtain(const client::FileHandle& handle, std::uint64_t fileid,
                            std::uint32_t mode) {
  if (InodeRef known = find(handle)) {
    if (known == root_ || same_file(*known, fileid, mode)) return known;
    erase(*known);
  }
  Inode* const made = make(handle);
  if (made) insert(*made);
  return InodeRef(made);
}

void InodeIndex::insert(Inode& inode) {
  if (hashed_ >= buckets_.size()) grow();
  Inode*& bucket = buckets_[bucket_of(inode.handle())];
  inode.hash_next_ = bucket;
  inode.hashed_ = true;
  bucket = &inode;
  ++hashed_;
}

void InodeIndex::erase(Inode& inode) {
  if (!inode.hashed_) return;
  Inode** link = &buckets_[bucket_of(inode.handle())];
  while (*link != &inode) link = &(*link)->hash_next_;
  *link = inode.hash_next_;
  inode.hashed_ = false;
  --hashed_;
}

void InodeIndex::grow() {
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

}  // namespace nfsrdma::cache
