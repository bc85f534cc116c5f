// RFC 8881 section 18.25.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_remove(CompoundContext& context, const REMOVE4args& args, REMOVE4res& result) {
  const Component name(args.target);
  if (name.status() != NFS4_OK) return name.status();
  if (!context.current->is_directory()) return NFS4ERR_NOTDIR;
  const auto directory = context.files().path_fd(context.current);
  if (!directory) return directory.error();
  DirectoryChange change(context, context.current);
  {
    const ActAs act(context.who);
    const auto victim = stat_at(*directory, name.c_str());
    if (!victim) return victim.error();
    const nfsstat4 status = recall_by_key(context, victim->key());
    if (status != NFS4_OK) return status;
    const int flags = victim->is_directory() ? AT_REMOVEDIR : 0;
    if (::unlinkat(*directory, name.c_str(), flags) != 0) return status_of_errno(errno);
    context.server.changes.bump(victim->key());
    context.files().note_removed(victim->key(), context.current, name.view());
  }
  result.resok4.cinfo = change.finish();
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
