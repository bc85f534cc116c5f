// LOOKUP and LOOKUPP: RFC 8881 sections 18.13 and 18.14.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 not_a_directory(const File& file) {
  if (file.is_directory()) return NFS4_OK;
  return file.format() == S_IFLNK ? NFS4ERR_SYMLINK : NFS4ERR_NOTDIR;
}

nfsstat4 op_lookup(CompoundContext& context, const LOOKUP4args& args, LOOKUP4res&) {
  const Component name(args.objname);
  if (name.status() != NFS4_OK) return name.status();
  const nfsstat4 wrong = not_a_directory(*context.current);
  if (wrong != NFS4_OK) return wrong;
  auto found = context.files().lookup(context.who, context.current, name.c_str());
  if (!found) return found.error();
  context.set_current(std::move(found->file), found->stat);
  return NFS4_OK;
}

nfsstat4 op_lookupp(CompoundContext& context, const LOOKUPP4args&, LOOKUPP4res&) {
  const nfsstat4 wrong = not_a_directory(*context.current);
  if (wrong != NFS4_OK) return wrong;
  auto found = context.files().lookup_parent(context.who, context.current);
  if (!found) return found.error();
  context.set_current(std::move(found->file), found->stat);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
