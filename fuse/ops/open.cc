#include <cerrno>
#include <optional>

#include "fuse/ops/open_file.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, client::Credential caller, InodeRef inode,
               int flags) {
  auto first = fs.files().reads().for_open(*inode, flags, fs.kernel().may_have_pages(*inode));
  auto opened =
      co_await cache::open(fs.attributes(), caller, inode, flags, std::move(first), inode->name());
  const bool gone = !opened && opened.error().is(Layer::nfs, nfs4::NFS4ERR_STALE);
  const bool elsewhere = !opened && opened.error().is(Layer::local, ESTALE);
  if (gone || elsewhere) inode->forget_name();
  if (elsewhere) {
    // The kernel looks the name up again and opens what it finds. When there is no name to look up
    // (/proc/self/fd), it asks for the same file again, which is then opened without one.
    request.reply_error(ESTALE);
    co_return;
  }
  if (!opened) {
    reply_failure(fs, request, opened.error());
    co_return;
  }
  co_await fs.kernel().prepare_open(inode);
  OpenAnswer answer;
  FileRef file = add_open_file(fs, std::move(*opened), flags, answer);
  if (!request.reply_open(answer)) co_await forget_open(fs, std::move(file));
}

/// Of the file the thread uses the kernel's pages only. It must not change how the kernel does I/O
/// for others, who may have opened it with O_DIRECT.
void reply_opened_for_pages(Request& request) {
  OpenAnswer answer;
  answer.fh = PageWriter::kHandle;
  answer.keep_cache = answer.direct_io = answer.no_flush = true;
  request.reply_open(answer);
}

}  // namespace

void handle::open(FileSystem& fs, Request request, InodeRef inode, fuse_open_in arguments) {
  if (fs.kernel().page_writer().opens(*inode, request.context().pid)) {
    reply_opened_for_pages(request);
    return;
  }
  const int flags = static_cast<int>(arguments.flags);
  const client::Credential caller = request.caller();
  // Pages that another opener is having dropped are stale until they are gone.
  std::optional<cache::Opened> opened;
  if (!fs.kernel().pages_outdated(*inode) && !inode->size_is_too_large())
    opened = cache::open_locally(fs.attributes(), caller, inode, flags);
  if (!opened) {
    spawn(run(fs, std::move(request), caller, std::move(inode), flags));
    return;
  }
  OpenAnswer answer;
  FileRef file = add_open_file(fs, std::move(*opened), flags, answer);
  if (!request.reply_open(answer)) spawn(forget_open(fs, std::move(file)));
}

}  // namespace nfsrdma::fuse
