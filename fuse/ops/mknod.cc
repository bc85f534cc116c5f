#include "cache/name/make_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::mknod(FileSystem& fs, Request request, InodeRef parent, MknodArguments node) {
  const client::Credential caller = request.caller();
  auto made =
      co_await cache::make_node(fs.attributes(), caller, parent, node.name, node.mode, node.rdev);
  reply_made(fs, request, *parent, node.name, made);
}

}  // namespace nfsrdma::fuse
