#include "client/ops/getattr.h"

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

/// Who wants to know: the kernel names the open file when it needs the size for read(2) itself.
enum class Asker : std::uint8_t { stat, read };

/// Somebody else has changed the file, of which the kernel has pages. If the file has grown, what
/// fills the last page up behind the old end must not be taken for data. An order to drop pages
/// keeps the kernel from taking in attributes that it is asking for; a caller of stat(2) gets them
/// all the same. A read(2) would go on with a size from before its open: it gets the size that goes
/// with the pages instead, and the next one what is new.
Task<void> answer_changed(FileSystem& fs, Request request, InodeRef inode, Asker asker,
                          cache::FileAttributes before) {
  if (asker == Asker::read && inode->pages_match(before.change)) {
    request.reply_attr(fs.stat_of(*inode, before), 0);
    co_await fs.drop_outdated_pages(inode);
    fs.drop_attributes(*inode);
    co_return;
  }
  co_await fs.drop_outdated_pages(inode);
  reply_attributes(fs, request, *inode);
}

/// The server's view, after what was written here.
Task<void> run(FileSystem& fs, Request request, InodeRef inode, Asker asker) {
  const client::Caller caller = request.caller();
  const auto open = inode->open();
  if (open && open->dirty()) {
    co_await fs.gatherer().flush(open);
    if (fs.fresh(*inode)) {
      reply_attributes(fs, request, *inode);
      co_return;
    }
  }
  const cache::Issue issue = fs.issue();
  const cache::FileAttributes before = inode->attributes().value();
  auto attributes = co_await client::getattr(fs.mount(), caller, inode->handle());
  if (!attributes) {
    reply_failure(request, attributes.error());
    co_return;
  }
  fs.learn(*inode, *attributes, issue, ChangedBy::anyone);
  if (fs.pages_outdated(*inode)) {
    co_await answer_changed(fs, std::move(request), std::move(inode), asker, before);
    co_return;
  }
  reply_attributes(fs, request, *inode);
}

}  // namespace

void handle::getattr(fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (!inode) return;
  const auto open = inode->open();
  const Asker asker = info ? Asker::read : Asker::stat;
  if ((open && open->dirty()) || !fs.fresh(*inode)) {
    spawn(run(fs, std::move(request), std::move(inode), asker));
    return;
  }
  fs.count_attribute_hit();
  if (fs.pages_outdated(*inode)) {
    const cache::FileAttributes same = inode->attributes().value();
    spawn(answer_changed(fs, std::move(request), std::move(inode), asker, same));
  } else {
    reply_attributes(fs, request, *inode);
  }
}

}  // namespace nfsrdma::fs
