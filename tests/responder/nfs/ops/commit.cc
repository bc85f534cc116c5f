// RFC 8881 section 18.3.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

nfsstat4 sync(int fd) { return ::fdatasync(fd) == 0 ? NFS4_OK : status_of_errno(errno); }

// The writer may have closed the file since; any descriptor of the file will do.
nfsstat4 sync_closed_file(CompoundContext& context) {
  auto fd = context.files().reopen_unchecked(context.current, O_RDONLY);
  if (!fd && fd.error() == NFS4ERR_ACCESS) {
    fd = context.files().reopen_unchecked(context.current, O_WRONLY);
  }
  return fd ? sync(fd->get()) : fd.error();
}

}  // namespace

nfsstat4 op_commit(CompoundContext& context, const COMMIT4args&, COMMIT4res& result) {
  const nfsstat4 wrong = not_a_regular_file(*context.current);
  if (wrong != NFS4_OK) return wrong;
  context.server.unstable.committed(*context.current);
  result.resok4.writeverf = context.server.instance.write_verifier;
  if (!context.server.config.durable) return NFS4_OK;
  const OpenState* open = context.states().any_open(*context.current, OPEN4_SHARE_ACCESS_BOTH);
  return open ? sync(open->fd()) : sync_closed_file(context);
}

}  // namespace nfsrdma::responder
