#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "cache/name/change_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The file has under its new name what was stored to a mapping before. Where it is not known which
/// file this is, all have.
Task<void> write_renamed(FileSystem& fs, std::optional<cache::InodeRef> renamed) {
  std::vector<InodeRef> files;
  if (!renamed) {
    fs.inodes().for_each([&files](Inode& inode) {
      if (inode.open()) files.push_back(&inode);
    });
  } else if (*renamed) {
    files.push_back(with_view(*renamed));
  }
  for (const InodeRef& file : files) {
    co_await fs.kernel().page_writer().write(file, PageWriter::Opens::never);
  }
}

}  // namespace

Task<void> handle::rename(FileSystem& fs, Request request, InodeRef parent,
                          RenameArguments arguments) {
  // NFSv4.1 has neither RENAME_NOREPLACE nor RENAME_EXCHANGE; EINVAL is renameat2's word for that.
  if (arguments.flags != 0) {
    request.reply_error(EINVAL);
    co_return;
  }
  const InodeRef target = inode_or_refuse(fs, request, arguments.new_directory);
  if (!target) co_return;
  auto from = fs.place_of(parent, arguments.name);
  auto to = fs.place_of(target, arguments.new_name);
  cache::Files& files = fs.files();
  const client::Credential caller = request.caller();
  const std::optional<cache::InodeRef> moved = from.leads_to;
  const std::optional<cache::InodeRef> replaced = to.leads_to;
  co_await write_renamed(fs, moved);
  auto renamed = co_await cache::rename(files.silly_names(), files.writes().behind(), caller,
                                        std::move(from), std::move(to));
  fs.kernel().after_rename(*parent, arguments.name, *target, arguments.new_name,
                           renamed.has_value());
  if (renamed && replaced && *replaced) {
    with_view(*replaced)->forget_name(*target, arguments.new_name);
  }
  if (renamed && moved && *moved) with_view(*moved)->led_by(target, arguments.new_name);
  reply_done(fs, request, renamed, arguments.name);
}

}  // namespace nfsrdma::fuse
