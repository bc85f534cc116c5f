#include "fuse/ops/directory_answer.h"

#include <algorithm>

#include "cache/attr/from_server.h"
#include "cache/name/list_names.h"
#include "fuse/convert/attributes.h"

namespace nfsrdma::fuse {
namespace {

using cache::DirectoryPlaces;

}  // namespace

DirectoryAnswer::DirectoryAnswer(FileSystem& fs, Kind kind, Buffer memory, std::size_t size)
    : fs_(&fs), kind_(kind), memory_(std::move(memory)), size_(std::min(size, memory_.size())) {}

bool DirectoryAnswer::took(std::size_t needed) {
  if (needed > size_ - used_) return false;
  used_ += needed;
  return true;
}

/// A name without a lookup: node 0.
bool DirectoryAnswer::add_bare(std::string_view name, std::uint64_t number, mode_t mode,
                               std::uint64_t offset) {
  EntryAnswer bare;
  bare.attributes.st_ino = number;
  bare.attributes.st_mode = mode;
  if (kind_ == Kind::names) return took(add_entry(room(), name, bare.attributes, offset));
  return took(add_entry_plus(room(), name, bare, offset));
}

void DirectoryAnswer::add_dots(Inode& directory, std::uint64_t offset) {
  const std::uint64_t self = fs_->kernel().stat_of(directory).st_ino;
  if (offset < DirectoryPlaces::kAfterDot) {
    add_bare(".", self, S_IFDIR, DirectoryPlaces::kAfterDot);
  }
  if (offset < DirectoryPlaces::kAfterDotDot) {
    const std::uint64_t parent =
        fs_->kernel().number_of(directory.parent_fileid(), directory.parent_fsid());
    add_bare("..", parent, S_IFDIR, DirectoryPlaces::kAfterDotDot);
  }
}

/// As stat(2) would show it. With rdattr_error a server tells none, as in a directory that may be
/// read but not searched, or for a referral that of the name, which is of the directory's own file
/// system (RFC 8881 section 5.8.2).
std::uint64_t DirectoryAnswer::number_of(const cache::Directory& directory,
                                         const client::Attributes& told) const {
  cache::FileAttributes file;
  file.fsid = directory.inode->attributes().value().fsid;
  if (told.has(nfs4::FATTR4_FILEID)) {
    cache::apply(told, file);
  } else if (told.has(nfs4::FATTR4_MOUNTED_ON_FILEID)) {
    file.fileid = told.mounted_on_fileid;
  } else {
    return kUnknownInode;
  }
  return fs_->kernel().number_of(file.fileid, file.fsid);
}

InodeRef DirectoryAnswer::inode_of(const cache::Directory& directory, const client::Entry& entry) {
  if (kind_ == Kind::names) return {};
  // Most readers need the names alone, and each inode costs memory; the kernel looks up those that
  // a program asks about.
  if (fs_->inode_limit().reached() && !fs_->inodes().find(entry.handle)) return {};
  return with_view(cache::inode_of(fs_->attributes(), directory, entry));
}

bool DirectoryAnswer::add(cache::Directory& directory, const client::Entry& entry,
                          const InodeRef& inode) {
  const auto offset = directory.places.after(entry.cookie);
  if (!offset) {
    too_many_ = true;
    return false;
  }
  const Duration longest = cache::names_remaining(fs_->attributes(), directory);
  if (inode && longest > Duration::zero()) {
    return add_inode(directory, entry, *inode, longest, *offset);
  }

  const client::Attributes& told = entry.attributes;
  const mode_t type = told.has(nfs4::FATTR4_TYPE) ? cache::type_bits(told.type) : 0;
  return add_bare(entry.name, number_of(directory, told), type, *offset);
}

bool DirectoryAnswer::add_inode(cache::Directory& directory, const client::Entry& entry,
                                Inode& inode, Duration longest, std::uint64_t offset) {
  const EntryAnswer found =
      fs_->kernel().entry_of(inode, with_view(*directory.inode), entry.name, longest);
  if (!took(add_entry_plus(room(), entry.name, found, offset))) return false;
  fs_->inodes().count_lookup(inode);
  answered_.emplace_back(&inode);
  return true;
}

void DirectoryAnswer::take_back() {
  for (const InodeRef& inode : answered_) fs_->inodes().forget(*inode, 1);
}

}  // namespace nfsrdma::fuse
