#include <cerrno>
#include <utility>

#include "fuse/ops/list_directory.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<Result<void>> read_first_page(FileSystem& fs, client::Credential caller,
                                   cache::DirectoryRef directory) {
  auto guard = co_await directory->reading.lock();
  rewind(*directory);
  auto present = co_await list_page(fs, caller, directory, /*cookie=*/0);
  CO_TRY(present);
  directory->unread = true;
  co_return Result<void>();
}

}  // namespace

/// NFS does not open directories. The first page of names, which READDIR then has, tells whether it
/// is there and may be read: another client may have removed it and made another one under its
/// name, and on ESTALE the kernel looks the path up again and opens what is there now. It does so
/// for an open, not for a listing.
Task<void> handle::opendir(FileSystem& fs, Request request, InodeRef inode, fuse_open_in) {
  const client::Credential caller = request.caller();
  const OpenAnswer opened{.fh = fs.add_directory(std::move(inode))};
  auto read = co_await read_first_page(fs, caller, fs.find_directory(opened.fh));
  const bool gone = !read && read.error().is(Layer::nfs, nfs4::NFS4ERR_STALE);
  const bool refused = !read && read.error().is(Layer::nfs, nfs4::NFS4ERR_ACCESS);
  if (gone || refused) {
    fs.remove_directory(opened.fh);
    // The program sees it only where there is no path to look up again (/proc/self/fd).
    if (gone) request.reply_error(ESTALE);
    if (refused) reply_failure(fs, request, read.error());
    co_return;
  }
  // Other errors are left to READDIR, which asks again: a directory may be opened for other things
  // than its names.
  if (!request.reply_open(opened)) fs.remove_directory(opened.fh);
}

void handle::releasedir(FileSystem& fs, Request request, fuse_release_in arguments) {
  fs.remove_directory(arguments.fh);
  request.reply_ok();
}

/// The server makes changes of names durable before it answers them (RFC 8881 section 18.25.4 and
/// its like).
void handle::fsyncdir(FileSystem&, Request request, fuse_fsync_in) { request.reply_ok(); }

}  // namespace nfsrdma::fuse
