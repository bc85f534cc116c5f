#include "fuse/ops/commit.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

/// Commits, and reports what went wrong since this open file was told last.
Task<void> run(FileSystem& fs, Request request, FileRef file) {
  co_await commit_file(fs, file);
  cache::WriteErrors& errors = file->shared->errors;
  const cache::WriteErrors::Seen before = file->errors_seen;
  if (!request.reply_error(errors.take(file->errors_seen))) file->errors_seen = before;
}

}  // namespace

void handle::fsync(fuse_req_t req, fuse_ino_t, int, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  FileRef file = file_or_refuse(fs, request, *info);
  if (file) spawn(run(fs, std::move(request), std::move(file)));
}

/// close(2) returns when everything is at the server and durable: other clients that open the file
/// afterwards see it (close-to-open).
void handle::flush(fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  FileRef file = fs.find_file(info->fh);
  if (file && !file->writable()) {
    Request(req).reply_ok();
    return;
  }
  fsync(req, id, 0, info);
}

}  // namespace nfsrdma::fs
