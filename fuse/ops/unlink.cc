#include "cache/name/change_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::unlink(FileSystem& fs, Request request, InodeRef parent,
                          NameArguments arguments) {
  const client::Credential caller = request.caller();
  auto place = fs.place_of(parent, arguments.name);
  const std::optional<cache::InodeRef> file = place.leads_to;
  auto removed = co_await cache::unlink(fs.files().silly_names(), caller, std::move(place));
  if (removed && file && *file) with_view(*file)->forget_name(*parent, arguments.name);
  fs.kernel().after_removal(*parent, arguments.name, removed.has_value());
  reply_done(fs, request, removed, arguments.name);
}

Task<void> handle::rmdir(FileSystem& fs, Request request, InodeRef parent,
                         NameArguments arguments) {
  const client::Credential caller = request.caller();
  cache::Place place{parent, arguments.name};
  auto removed =
      co_await cache::remove_directory(fs.files().silly_names(), caller, std::move(place));
  fs.kernel().after_removal(*parent, arguments.name, removed.has_value());
  reply_done(fs, request, removed, arguments.name);
}

}  // namespace nfsrdma::fuse
