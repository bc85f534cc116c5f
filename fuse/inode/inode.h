// What this client knows of one file: the kernel's inode number, the server's handle, attributes.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <memory>

#include "cache/attr/cached_attributes.h"
#include "client/types.h"

namespace nfsrdma::fs {

class InodeTable;
class OpenInode;

/// Owned by the InodeTable; exists while the kernel counts a lookup of it or an InodeRef names it.
class Inode {
 public:
  Inode(InodeTable& table, std::uint64_t id, const client::FileHandle& handle)
      : table_(table), id_(id), handle_(handle) {}
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  /// The kernel's name for it (fuse_ino_t).
  std::uint64_t id() const { return id_; }
  const client::FileHandle& handle() const { return handle_; }

  cache::CachedAttributes& attributes() { return attributes_; }
  const cache::CachedAttributes& attributes() const { return attributes_; }
  bool is_directory() const;

  /// Set while the file is open here (fuse/inode/open_inode.h).
  std::shared_ptr<OpenInode> open() const { return open_.lock(); }
  void set_open(const std::shared_ptr<OpenInode>& open) { open_ = open; }

  /// How often this client itself changed the names in this directory.
  std::uint32_t epoch() const { return epoch_; }
  void count_change() { ++epoch_; }

  /// The fileid of a directory's parent, as of the last lookup; 0 when not known.
  std::uint64_t parent_fileid() const { return parent_fileid_; }
  void set_parent_fileid(std::uint64_t fileid) { parent_fileid_ = fileid; }

  /// The change attribute of the attributes that the kernel was given last.
  bool kernel_knows(std::uint64_t change) const { return told_ && told_change_ == change; }
  void told_kernel(std::uint64_t change) {
    told_change_ = change;
    told_ = true;
  }

  /// The change attribute that the kernel's cached pages of the file belong to.
  bool pages_match(std::uint64_t change) const { return pages_known_ && pages_change_ == change; }
  void set_pages(std::uint64_t change) {
    pages_change_ = change;
    pages_known_ = true;
  }
  /// The kernel may have cached pages of another version than this one.
  bool pages_stale(std::uint64_t change) const { return pages_known_ && pages_change_ != change; }
  /// They are being dropped.
  bool dropping_pages() const { return dropping_pages_; }
  void set_dropping_pages(bool dropping) { dropping_pages_ = dropping; }

 private:
  friend class InodeTable;
  friend void intrusive_ptr_add_ref(Inode* inode) { ++inode->references_; }
  friend void intrusive_ptr_release(Inode* inode);

  InodeTable& table_;
  const std::uint64_t id_;
  std::uint64_t lookups_ = 0;  ///< as the kernel counts them
  std::uint64_t pages_change_ = 0;
  std::uint64_t told_change_ = 0;
  std::uint64_t parent_fileid_ = 0;
  Inode* hash_next_ = nullptr;
  std::weak_ptr<OpenInode> open_;
  std::uint32_t references_ = 0;
  std::uint32_t epoch_ = 0;
  bool pages_known_ = false;
  bool dropping_pages_ = false;
  bool told_ = false;
  bool hashed_ = false;
  cache::CachedAttributes attributes_;
  const client::FileHandle handle_;
};

void intrusive_ptr_release(Inode* inode);

/// Keeps an Inode from going while an operation uses it.
using InodeRef = boost::intrusive_ptr<Inode>;

}  // namespace nfsrdma::fs
