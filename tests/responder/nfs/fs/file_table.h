// From file handles and names to inodes.
//
// The table holds a bounded number of O_PATH descriptors, least recently used first to go. An inode
// with a kernel handle is forgotten together with its descriptor; one without stays, with the place
// where it was last seen, because only this table can find it again. The handle that an earlier
// process has given out for such an inode is good, too: when the first one comes the whole tree is
// looked through, once.
#pragma once

#include <fcntl.h>

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/fs/component.h"
#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/nfs/fs/descriptor_limit.h"
#include "tests/responder/nfs/fs/file.h"
#include "tests/responder/nfs/fs/file_handle.h"
#include "transport/base/result.h"

namespace nfsrdma::responder {

/// A name's inode and what statx(2) said about it.
struct FoundFile {
  FileRef file;
  FileStat stat;
};

class FileTable {
 public:
  /// Opens the directory to be served.
  static Result<std::unique_ptr<FileTable>> open(const ServiceConfig& config);

  const FileRef& root() const { return root_; }

  /// The inode of a handle: BADHANDLE, STALE.
  Outcome<FileRef> find(const nfs4::nfs_fh4& handle);
  /// A name in a directory, looked up with the rights of `who`.
  Outcome<FoundFile> lookup(const Identity& who, const FileRef& directory, const char* name);
  /// The directory above; NOENT at the root of the served tree.
  Outcome<FoundFile> lookup_parent(const Identity& who, const FileRef& directory);
  /// The inode of a descriptor that has just been opened or created as `name` in `directory`. The
  /// descriptor stays the caller's.
  FileRef adopt(int fd, const FileStat& stat, const FileRef& directory, std::string_view name);
  /// The handle that lookup of an entry would give, without looking it up.
  nfs4::nfs_fh4 handle_of_entry(const FileRef& directory, const char* name, const FileStat& stat);

  /// An O_PATH descriptor that stays valid until the request has been handled.
  Outcome<int> path_fd(const FileRef& file);
  /// STALE when the inode has been removed and is not open.
  Outcome<FileStat> stat(const FileRef& file);
  /// A new descriptor with open(2) `flags`, checked against `who`.
  Outcome<UniqueFd> reopen(const Identity& who, const FileRef& file, int flags);
  /// The same without a check, when access has been decided already.
  Outcome<UniqueFd> reopen_unchecked(const FileRef& file, int flags);

  /// Whether one more open can be had beside so many: SERVERFAULT when the process has only the
  /// last of its descriptors left, though all that are not of open files were closed.
  nfs4::nfsstat4 check_descriptors(std::size_t opens);

  /// Tells of what happened to names, so that places follow.
  void note_removed(const InodeKey& key, const FileRef& directory, std::string_view name);
  /// To be called when the last open of a file has ended: a removed file then gives up its space.
  void forget_if_removed(const FileRef& file);
  void note_renamed(const InodeKey& key, const FileRef& directory, std::string_view name);

  /// Null when the inode has not been used lately.
  FileRef known(const InodeKey& key) const;
  std::size_t size() const { return files_.size(); }

 private:
  static constexpr int kPathFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;

  FileTable(const ServiceConfig& config, UniqueFd root_fd);

  FileRef insert(const FileStat& stat, const KernelHandle* kernel);
  Outcome<FileRef> find_by_kernel_handle(const ParsedHandle& parsed);
  Outcome<FileRef> find_in_tree(const InodeKey& key);
  void look_through_tree();
  struct Walk {
    std::vector<FileRef> directories;  ///< still to be looked through
    std::unordered_set<InodeKey, InodeKeyHash> seen;
  };
  void look_through(const FileRef& directory, Walk& walk);
  Outcome<UniqueFd> open_at_last_place(const File& file);
  void keep_open(const FileRef& file, UniqueFd fd);
  /// False: none of the oldest can be closed.
  bool close_oldest();
  void close_path(File& file);
  /// Closes every descriptor but the latest that is not of an open file.
  void close_unused();
  /// The result of `open`, a descriptor or -1. Makes room when no descriptor is left.
  int with_room(const std::function<int()>& open);
  Outcome<UniqueFd> open_by_kernel_handle(const KernelHandle& handle);
  bool below_root(int directory_fd) const;
  InodeKey wire_key(InodeKey key) const;

  HandleCodec codec_;
  UniqueFd mount_fd_;  // a real descriptor of the root, for open_by_handle_at
  std::uint64_t root_device_ = 0;
  bool kernel_handles_ = false;
  bool looked_through_ = false;
  DescriptorLimit limit_;
  std::size_t max_descriptors_;
  std::size_t descriptors_ = 0;
  std::size_t not_closed_ = 0;  // times that one too many was opened since all were looked at
  std::unordered_map<InodeKey, FileRef, InodeKeyHash> files_;
  IntrusiveList<File> open_order_;  // files with a descriptor, least recently used first
  FileRef root_;
};

}  // namespace nfsrdma::responder
