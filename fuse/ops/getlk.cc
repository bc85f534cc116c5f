#include "fuse/convert/lock.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, FileRef file, client::LockWish wish) {
  auto tested = co_await client::test_lock(fs.mount(), file->open.file(), wish);
  if (!tested) {
    reply_failure(request, tested.error());
    co_return;
  }
  struct ::flock answer {};
  answer.l_type = F_UNLCK;
  if (*tested) answer = to_flock(**tested);
  request.reply_lock(answer);
}

}  // namespace

void handle::getlk(fuse_req_t req, fuse_ino_t, fuse_file_info* info, struct ::flock* lock) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  FileRef file = file_or_refuse(fs, request, *info);
  if (!file) return;
  client::LockWish wish;
  wish.owner = {client::LockKind::posix, info->lock_owner};
  wish.range = to_range(*lock);
  wish.exclusive = lock->l_type == F_WRLCK;
  spawn(run(fs, std::move(request), std::move(file), wish));
}

}  // namespace nfsrdma::fuse
