#include "cache/name/make_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::mkdir(FileSystem& fs, Request request, InodeRef parent,
                         MkdirArguments arguments) {
  const client::Credential caller = request.caller();
  auto made = co_await cache::make_directory(fs.attributes(), caller, parent, arguments.name,
                                             arguments.mode);
  reply_made(fs, request, *parent, arguments.name, made);
}

}  // namespace nfsrdma::fuse
