// One inode the service knows.
#pragma once

#include <memory>
#include <string>

#include "client/proto/types.h"
#include "tests/responder/nfs/fs/file_stat.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

class FileTable;
class File;
using FileRef = std::shared_ptr<File>;

/// Made by a FileTable only; its node stands in the table's list of open descriptors.
class File : public ListNode {
 public:
  File(const InodeKey& key, std::uint32_t format) : key_(key), format_(format) {}

  const InodeKey& key() const { return key_; }
  /// S_IFREG, S_IFDIR, ...; an inode never changes it.
  std::uint32_t format() const { return format_; }
  bool is_directory() const { return format_ == S_IFDIR; }
  bool is_regular() const { return format_ == S_IFREG; }
  const nfs4::nfs_fh4& handle() const { return handle_; }

  /// Opens that keep the inode, and with it the descriptor, alive.
  void add_user() { ++users_; }
  void drop_user() { --users_; }
  bool in_use() const { return users_ > 0; }

  /// A write by an unprivileged caller must be made as that caller, so that the kernel clears the
  /// set-id bits.
  bool has_set_id_bits = false;

 private:
  friend class FileTable;

  bool can_reopen() const { return by_kernel_handle_ || parent_ != nullptr; }

  const InodeKey key_;
  const std::uint32_t format_;
  nfs4::nfs_fh4 handle_;
  bool by_kernel_handle_ = false;
  UniqueFd path_fd_;  // O_PATH; may be closed when the inode can be found again
  std::uint32_t users_ = 0;
  // Where it was last seen; for inodes without a kernel handle. No parent: not known any more.
  FileRef parent_;
  std::string name_;
};

}  // namespace nfsrdma::responder
