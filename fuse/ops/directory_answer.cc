#include "fuse/ops/directory_answer.h"

#include <algorithm>

#include "cache/attr/from_server.h"
#include "cache/name/list_names.h"

namespace nfsrdma::fuse {
namespace {

using cache::DirectoryStream;

}  // namespace

DirectoryAnswer::DirectoryAnswer(FileSystem& fs, Kind kind, Buffer memory, std::size_t size)
    : fs_(&fs), kind_(kind), memory_(std::move(memory)), size_(std::min(size, memory_.size())) {}

bool DirectoryAnswer::took(std::size_t needed) {
  if (needed > size_ - used_) return false;
  used_ += needed;
  return true;
}

/// A name without a lookup: node 0.
bool DirectoryAnswer::add_bare(std::string_view name, std::uint64_t fileid, mode_t mode,
                               std::uint64_t offset) {
  EntryAnswer bare;
  bare.attributes.st_ino = fileid;
  bare.attributes.st_mode = mode;
  if (kind_ == Kind::names) return took(add_entry(room(), name, bare.attributes, offset));
  return took(add_entry_plus(room(), name, bare, offset));
}

void DirectoryAnswer::add_dots(Inode& directory, std::uint64_t offset) {
  const std::uint64_t self = fs_->kernel().stat_of(directory).st_ino;
  if (offset < DirectoryStream::kAfterDot) {
    add_bare(".", self, S_IFDIR, DirectoryStream::kAfterDot);
  }
  if (offset < DirectoryStream::kAfterDotDot) {
    add_bare("..", directory.parent_fileid(), S_IFDIR, DirectoryStream::kAfterDotDot);
  }
}

InodeRef DirectoryAnswer::inode_of(const cache::Directory& directory, const client::Entry& entry) {
  if (kind_ == Kind::names) return {};
  return with_view(cache::inode_of(fs_->attributes(), directory, entry));
}

bool DirectoryAnswer::add(cache::Directory& directory, const client::Entry& entry,
                          const InodeRef& inode) {
  if (inode && directory.names_current()) return add_inode(directory, entry, *inode);

  cache::FileAttributes attributes;
  cache::apply(entry.attributes, attributes);
  return add_bare(entry.name, attributes.fileid, attributes.mode, entry.cookie);
}

bool DirectoryAnswer::add_inode(cache::Directory& directory, const client::Entry& entry,
                                Inode& inode) {
  const EntryAnswer found = fs_->kernel().entry_of(inode, with_view(*directory.inode), entry.name);
  if (!took(add_entry_plus(room(), entry.name, found, entry.cookie))) return false;
  fs_->inodes().count_lookup(inode);
  answered_.emplace_back(&inode);
  return true;
}

void DirectoryAnswer::take_back() {
  for (const InodeRef& inode : answered_) fs_->inodes().forget(*inode, 1);
}

}  // namespace nfsrdma::fuse
