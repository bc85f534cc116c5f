#include <optional>

#include "fuse/ops/close_file.h"
#include "fuse/ops/file_locks.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

Task<void> run(FileSystem& fs, Request request, FileRef file, client::LockOwner flock_owner) {
  std::optional<UnderWay::One> removal;
  if (file->shared->silly) removal.emplace(fs.silly_removals());
  co_await release_locks(fs, file->shared, flock_owner);
  co_await release_description_locks(fs, file);
  co_await close_file(fs, std::move(file));
  request.reply_ok();
}

}  // namespace

void handle::release(fuse_req_t req, fuse_ino_t, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  FileRef file = fs.remove_file(info->fh);
  if (file) {
    const client::LockOwner flock_owner{client::LockKind::flock, info->lock_owner};
    spawn(run(fs, std::move(request), std::move(file), flock_owner));
  } else {
    request.reply_error(EBADF);
  }
}

}  // namespace nfsrdma::fs
