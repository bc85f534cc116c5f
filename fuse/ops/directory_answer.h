// The answer to a FUSE READDIR or READDIRPLUS while it is being put together.
#pragma once

#include <vector>

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Entries are added until one does not fit. With attributes each entry counts as a lookup, of
/// which take_back() is the undoing.
class DirectoryAnswer {
 public:
  enum class Kind { names, names_and_attributes };

  /// Put together in `memory`, at most `size` bytes.
  DirectoryAnswer(FileSystem& fs, Kind kind, Buffer memory, std::size_t size);

  /// "." and "..", as far as they come after `offset`.
  void add_dots(Inode& directory, std::uint64_t offset);
  /// The inode that the kernel is told with an entry; null: only the name is told.
  InodeRef inode_of(const cache::Directory& directory, const client::Entry& entry);
  /// False when there is no room left for this entry, or no offset (too_many()).
  bool add(cache::Directory& directory, const client::Entry& entry, const InodeRef& inode);
  /// The directory has more entries than offsets of 31 bits can count, and none was added.
  bool too_many() const { return too_many_ && used_ == 0; }

  std::span<const std::byte> data() const { return memory_.first(used_); }
  /// The kernel did not take the answer: releases its references.
  void take_back();

 private:
  bool add_bare(std::string_view name, std::uint64_t number, mode_t mode, std::uint64_t offset);
  std::uint64_t number_of(const cache::Directory& directory, const client::Attributes& told) const;
  bool add_inode(cache::Directory& directory, const client::Entry& entry, Inode& inode,
                 Duration longest, std::uint64_t offset);
  bool took(std::size_t needed);
  std::span<std::byte> room() const { return memory_.first(size_).subspan(used_); }

  FileSystem* fs_;
  Kind kind_;
  Buffer memory_;
  std::size_t size_;
  std::size_t used_ = 0;
  bool too_many_ = false;
  std::vector<InodeRef> answered_;
};

}  // namespace nfsrdma::fuse
