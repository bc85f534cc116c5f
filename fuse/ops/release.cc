#include <utility>
#include <vector>

#include "cache/files.h"
#include "cache/lock/file_locks.h"
#include "cache/name/silly_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// No program waits for the answer, which is sent first: the kernel sends max_background
/// RELEASEs and then no more until some are answered. Files whose RELEASE it kept back
/// during a recovery would look open: unlink(2) would give them silly names, and rmdir(2)
/// fail.
Task<void> run(FileSystem& fs, Request request, FileRef file,
               std::vector<cache::Departure> leaving) {
  request.reply_ok();
  fs.files().silly_names().announce_removal(*file->shared);
  spawn(fs.kernel().page_writer().close(&file->node()));
  for (cache::Departure& owner : leaving) {
    co_await cache::release_locks(fs.files().writes(), std::move(owner));
  }
  co_await fs.files().close(std::move(file));
}

}  // namespace

void handle::release(FileSystem& fs, Request request, fuse_release_in arguments) {
  if (arguments.fh == PageWriter::kHandle) {
    request.reply_ok();
    return;
  }
  FileRef file = fs.remove_file(arguments.fh);
  if (file) {
    // Before the answer: the kernel may use the owner's number again from now on.
    auto leaving = cache::departures(*file, arguments.lock_owner);
    spawn(run(fs, std::move(request), std::move(file), std::move(leaving)));
  } else {
    request.reply_error(EBADF);
  }
}

}  // namespace nfsrdma::fuse
