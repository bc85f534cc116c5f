#include "fuse/convert/lock.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
Task<void> handle::getlk(FileSystem& fs, Request request, FileRef file, fuse_lk_in arguments) {
  client::LockWish wish;
  wish.owner = {client::LockKind::posix, arguments.owner};
  wish.range = to_range(arguments.lk);
  wish.exclusive = arguments.lk.type == F_WRLCK;
  auto tested = co_await client::test_lock(fs.mount(), file->open.file(), wish);
  if (!tested) {
    reply_failure(fs, request, tested.error());
    co_return;
  }
  fuse_file_lock answer{};
  answer.type = F_UNLCK;
  if (*tested) answer = to_file_lock(**tested);
  request.reply_lock(answer);
}

}  // namespace nfsrdma::fuse
