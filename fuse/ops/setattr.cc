#include "cache/write/set_attributes.h"

#include <memory>
#include <optional>
#include <utility>

#include "fuse/convert/arguments.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// A WRITE sets the times, and takes set-id bits away: one of a mapped page as well.
Task<void> set_after_stores(FileSystem& fs, InodeRef inode) {
  co_await fs.kernel().page_writer().write(std::move(inode), PageWriter::Opens::never);
}

}  // namespace

Task<void> handle::setattr(FileSystem& fs, Request request, InodeRef inode,
                           fuse_setattr_in arguments) {
  const client::SetAttributes set = to_set_attributes(arguments);
  const std::shared_ptr<OpenView> seen = inode->view().open();
  std::optional<InFlightSet::One> truncating;
  if (set.size && seen) truncating.emplace(seen->truncations);
  if (!set.empty()) {
    cache::AttributeChange change{request.caller(), request.context().pid, set,
                                  [&request] { return request.answered(); }};
    FileRef file;
    if (!set.size) co_await set_after_stores(fs, inode);
    if (set.size && (arguments.valid & FATTR_FH)) file = fs.find_file(arguments.fh);
    auto changed = co_await cache::set_attributes(fs.files().writes(), inode, std::move(file),
                                                  std::move(change));
    if (!changed) {
      reply_failure(fs, request, changed.error());
      co_return;
    }
  }
  const bool taken = reply_attributes(fs, request, *inode, /*asked=*/false);
  // Its caller was let go, and the kernel believes the attributes of before.
  if (!taken) fs.kernel().drop_attributes(*inode);
  if (!set.size) co_return;
  if (taken) {
    inode->view().size_is(inode->attributes().value().size);
    co_return;
  }
  // The kernel has the old size, and pages behind the new one.
  inode->view().doubt_size();
  fs.kernel().drop_all(*inode);
}

}  // namespace nfsrdma::fuse
