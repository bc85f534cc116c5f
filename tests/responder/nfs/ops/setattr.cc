// RFC 8881 section 18.30.
#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/fs/attribute_setter.h"
#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_setattr(CompoundContext& context, const SETATTR4args& args, SETATTR4res& result) {
  const auto change = decode_settable(args.obj_attributes);
  if (!change) return change.error();
  int size_fd = -1;
  if (change->has(FATTR4_SIZE)) {
    const nfsstat4 wrong = not_a_regular_file(*context.current);
    if (wrong != NFS4_OK) return wrong == NFS4ERR_ISDIR ? wrong : NFS4ERR_INVAL;
    const auto open = open_for_io(context, args.stateid, OPEN4_SHARE_ACCESS_WRITE);
    if (!open) return open.error();
    // From the new end on, everything may change.
    const nfsstat4 locked = check_locks(context, *open, change->size, 0, /*writes=*/true);
    if (locked != NFS4_OK) return locked;
    if (*open) size_fd = (*open)->fd();
  }
  nfsstat4 status = recall_from_others(context, *context.current, OPEN4_SHARE_ACCESS_WRITE);
  if (status != NFS4_OK) return status;
  status = apply_attributes(context.files(), context.who, context.current, *change, size_fd,
                            result.attrsset);
  if (result.attrsset.test(FATTR4_SIZE)) {
    context.server.unstable.resized(*context.current, change->size);
  }
  if (!result.attrsset.empty()) context.changed(context.current);
  return status;
}

}  // namespace nfsrdma::responder
