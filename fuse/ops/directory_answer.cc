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

bool DirectoryAnswer::add_plain(std::string_view name, const struct stat& attributes,
                                std::uint64_t offset) {
  return took(add_entry(room(), name, attributes, offset));
}

bool DirectoryAnswer::add_plus(std::string_view name, const EntryAnswer& entry,
                               std::uint64_t offset) {
  return took(add_entry_plus(room(), name, entry, offset));
}

void DirectoryAnswer::add_dots(Inode& directory, std::uint64_t offset) {
  const auto add_dot = [this](const char* name, std::uint64_t fileid, std::uint64_t next) {
    EntryAnswer entry;  // node 0: a name without a lookup
    entry.attributes.st_mode = S_IFDIR;
    entry.attributes.st_ino = fileid;
    if (kind_ == Kind::names) {
      add_plain(name, entry.attributes, next);
    } else {
      add_plus(name, entry, next);
    }
  };
  const std::uint64_t self = fs_->kernel().stat_of(directory).st_ino;
  if (offset < DirectoryStream::kAfterDot) add_dot(".", self, DirectoryStream::kAfterDot);
  if (offset < DirectoryStream::kAfterDotDot) {
    add_dot("..", directory.parent_fileid(), DirectoryStream::kAfterDotDot);
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
  EntryAnswer bare;
  bare.attributes.st_ino = attributes.fileid;
  bare.attributes.st_mode = attributes.mode;
  if (kind_ == Kind::names) return add_plain(entry.name, bare.attributes, entry.cookie);
  return add_plus(entry.name, bare, entry.cookie);
}

bool DirectoryAnswer::add_inode(cache::Directory& directory, const client::Entry& entry,
                                Inode& inode) {
  const EntryAnswer found = fs_->kernel().entry_of(inode, with_view(*directory.inode), entry.name);
  if (!add_plus(entry.name, found, entry.cookie)) return false;
  fs_->inodes().count_lookup(inode);
  told_.emplace_back(&inode);
  return true;
}

void DirectoryAnswer::take_back() {
  for (const InodeRef& inode : told_) fs_->inodes().forget(*inode, 1);
}

}  // namespace nfsrdma::fuse
