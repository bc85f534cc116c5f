// One file or directory as this client knows it: the server's handle, attributes, opens.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "cache/attr/cached_attributes.h"
#include "cache/attr/names_version.h"
#include "cache/dir/listed_names.h"
#include "client/proto/object.h"

namespace nfsrdma::cache {

class InodeIndex;
class OpenInode;

/// Exists while something refers to it (InodeRef), or while the house above has a number for it
/// that is still in use. Belongs to one shard.
class Inode {
 public:
  explicit Inode(const client::FileHandle& handle) : handle_(handle) {}
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  const client::FileHandle& handle() const { return handle_; }
  CachedAttributes& attributes() { return attributes_; }
  const CachedAttributes& attributes() const { return attributes_; }
  bool is_directory() const;
  /// The size including dirty data.
  std::uint64_t size() const;

  /// Set while the file is open here.
  std::shared_ptr<OpenInode> open() const { return open_.lock(); }
  void set_open(const std::shared_ptr<OpenInode>& open) { open_ = open; }

  /// How often this client itself changed the names in this directory.
  std::uint32_t epoch() const { return epoch_; }
  void count_change(const client::NameChange& change) {
    ++epoch_;
    names_version_.changed_here(change);
  }
  /// The server shows the directory with this change attribute, another one than before: whether
  /// others have changed its names.
  bool changed_by_others(std::uint64_t change) { return names_version_.shown(change); }

  /// All names of the directory; null when they are not known. AttributeCache keeps it.
  ListedNames* listed() const { return listed_.get(); }
  void set_listed(std::unique_ptr<ListedNames> names) { listed_ = std::move(names); }

  /// The fileid of a directory's parent, as of the last lookup; 0 when not known.
  std::uint64_t parent_fileid() const { return parent_fileid_; }
  /// The file system that this number is of.
  const FileSystemId& parent_fsid() const { return parent_fsid_; }
  /// A name in `directory` leads here.
  void found_in(const Inode& directory) {
    if (!is_directory()) return;
    parent_fileid_ = directory.attributes().value().fileid;
    parent_fsid_ = directory.attributes().value().fsid;
  }

 protected:
  virtual ~Inode() = default;

  std::uint64_t lookups_ = 0;  ///< keep it besides references: as the kernel counts them
  bool referenced() const { return references_ > 0; }

 private:
  friend class InodeIndex;
  friend void intrusive_ptr_add_ref(Inode* inode) { ++inode->references_; }
  friend void intrusive_ptr_release(Inode* inode) {
    if (--inode->references_ == 0 && inode->lookups_ == 0) inode->unused();
  }
  /// Nothing keeps it any more: destroys it.
  virtual void unused() = 0;

  Inode* hash_next_ = nullptr;
  std::uint64_t parent_fileid_ = 0;
  FileSystemId parent_fsid_;
  std::weak_ptr<OpenInode> open_;
  std::uint32_t references_ = 0;
  std::uint32_t epoch_ = 0;
  bool hashed_ = false;
  CachedAttributes attributes_;
  NamesVersion names_version_;
  std::unique_ptr<ListedNames> listed_;
  const client::FileHandle handle_;
};

/// Keeps an Inode from going while an operation uses it.
using InodeRef = boost::intrusive_ptr<Inode>;

}  // namespace nfsrdma::cache
