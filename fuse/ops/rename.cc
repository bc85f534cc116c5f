#include <cerrno>

#include "cache/name/change_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

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
