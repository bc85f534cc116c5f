#include "fuse/ops/open_file.h"

#include <fcntl.h>

#include "fuse/ops/close_file.h"

namespace nfsrdma::fuse {

Task<void> drop_pages_before_open(FileSystem& fs, InodeRef inode) {
  if (fs.kernel_auto_invalidates() || !inode->pages_stale(inode->attributes().value().change))
    co_return;
  co_await fs.drop_outdated_pages(std::move(inode));
}

FileRef add_open_file(FileSystem& fs, InodeRef inode, client::OpenRef open, bool preserve_unlinked,
                      int flags, OpenAnswer& answer) {
  const std::uint64_t change = inode->attributes().value().change;
  answer.keep_cache = inode->pages_match(change) && !inode->drops_in_flight_set();
  inode->set_pages(change);
  fs.drop_outdated_attributes(*inode);

  if (!answer.keep_cache) inode->pages_to_be_dropped();
  const bool others = inode->open() != nullptr;
  FileRef file = fs.add_file(std::move(inode), std::move(open), preserve_unlinked);
  file->drop_unconfirmed = !answer.keep_cache;
  // What one of them drops, another may be writing.
  if (others && file->inode->drops_in_flight_set()) file->inode->watch_writes();
  file->append = (flags & O_APPEND) != 0;
  file->synchronous = fs.config().synchronous || (flags & (O_SYNC | O_DSYNC)) != 0;
  answer.fh = file->id;
  return file;
}

Task<void> forget_open(FileSystem& fs, FileRef file) {
  // The kernel has not opened it, and not dropped pages.
  file->inode->forget_pages();
  fs.remove_file(file->id);
  co_await close_file(fs, std::move(file));
}

}  // namespace nfsrdma::fuse
