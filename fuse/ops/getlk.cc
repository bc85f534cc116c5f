#include "fuse/convert/lock.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::getlk(FileSystem& fs, Request request, FileRef file, fuse_lk_in arguments) {
  auto tested = co_await cache::test_lock(fs.mount(), file, to_wanted_lock(arguments));
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
