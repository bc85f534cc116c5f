// One open(2), behind a file handle number of the kernel.
#pragma once

#include <memory>

#include "cache/file/file.h"
#include "fuse/kernel/inode.h"

namespace nfsrdma::fuse {

/// An open regular file, and the kernel's rights to its pages.
class File final : public cache::File {
 public:
  File(InodeRef of, std::shared_ptr<cache::OpenInode> of_open, client::OpenRef reference,
       std::shared_ptr<OpenView> kernels)
      : cache::File(std::move(of), std::move(of_open), std::move(reference)),
        seen(std::move(kernels)) {}
  ~File() override { confirm_drop(); }

  /// The same inode as the cache knows it by.
  Inode& node() const { return with_view(*inode); }
  /// The kernel has dropped the pages it was told to drop when the file was opened.
  void confirm_drop() {
    if (drop_unconfirmed) node().view().pages_dropped();
    drop_unconfirmed = false;
  }

  const std::shared_ptr<OpenView> seen;
  std::uint64_t id = 0;  ///< the kernel's number for it
  bool drop_unconfirmed = false;
};

using FileRef = boost::intrusive_ptr<File>;

}  // namespace nfsrdma::fuse
