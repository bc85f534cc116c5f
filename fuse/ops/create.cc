#include <cerrno>

#include "cache/name/make_names.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The name leads to a symbolic link, or to a FIFO, a socket or a device.
bool leads_elsewhere(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_SYMLINK) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_WRONG_TYPE);
}

}  // namespace

Task<void> handle::create(FileSystem& fs, Request request, InodeRef parent,
                          CreateArguments arguments) {
  const client::Credential caller = request.caller();
  const int flags = static_cast<int>(arguments.flags);
  auto opened = co_await cache::create(fs.attributes(), caller, parent, arguments.name, flags,
                                       arguments.mode);
  // Another client has made something there that OPEN does not open, and the kernel takes the name
  // for missing: it looks the name up again, and follows the link.
  if (!opened && leads_elsewhere(opened.error())) {
    request.reply_error(ESTALE);
    co_return;
  }
  if (!opened) {
    reply_failure(fs, request, opened.error(), arguments.name);
    co_return;
  }
  const InodeRef inode = with_view(opened->inode);
  co_await fs.kernel().drop_pages_before_open(inode);
  OpenAnswer answer;
  FileRef file = add_open_file(fs, std::move(*opened), flags, answer);
  fs.inodes().count_lookup(*inode);
  const EntryAnswer entry = fs.kernel().entry_of(*inode, *parent, arguments.name);
  if (!request.reply_create(entry, answer)) {
    fs.inodes().forget(*inode, 1);
    co_await forget_open(fs, std::move(file));
  }
}

}  // namespace nfsrdma::fuse
