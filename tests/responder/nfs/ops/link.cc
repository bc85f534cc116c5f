// RFC 8881 section 18.9.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/fs/proc_path.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_link(CompoundContext& context, const LINK4args& args, LINK4res& result) {
  const Component name(args.newname);
  if (name.status() != NFS4_OK) return name.status();
  if (!context.current->is_directory()) return NFS4ERR_NOTDIR;
  if (context.saved->is_directory()) return NFS4ERR_ISDIR;
  const auto file = context.files().path_fd(context.saved);
  if (!file) return file.error();
  const auto directory = context.files().path_fd(context.current);
  if (!directory) return directory.error();
  const nfsstat4 status = recall_from_others(context, *context.saved, OPEN4_SHARE_ACCESS_WRITE);
  if (status != NFS4_OK) return status;
  DirectoryChange change(context, context.current);
  {
    const ActAs act(context.who);
    if (::linkat(AT_FDCWD, ProcPath(*file).c_str(), *directory, name.c_str(), AT_SYMLINK_FOLLOW) !=
        0) {
      return status_of_errno(errno);
    }
  }
  context.changed(context.saved);
  context.files().note_renamed(context.saved->key(), context.current, name.view());
  result.resok4.cinfo = change.finish();
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
