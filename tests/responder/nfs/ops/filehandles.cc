// PUTROOTFH, PUTPUBFH, PUTFH, GETFH, SAVEFH, RESTOREFH: RFC 8881 sections 18.19 to 18.21, 18.8,
// 18.27 and 18.28.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_putrootfh(CompoundContext& context, const PUTROOTFH4args&, PUTROOTFH4res&) {
  context.set_current(context.files().root());
  return NFS4_OK;
}

nfsstat4 op_putpubfh(CompoundContext& context, const PUTPUBFH4args&, PUTPUBFH4res&) {
  context.set_current(context.files().root());
  return NFS4_OK;
}

nfsstat4 op_putfh(CompoundContext& context, const PUTFH4args& args, PUTFH4res&) {
  auto file = context.files().find(args.object);
  if (!file) return file.error();
  context.set_current(std::move(*file));
  return NFS4_OK;
}

nfsstat4 op_getfh(CompoundContext& context, const GETFH4args&, GETFH4res& result) {
  result.resok4.object = context.current->handle();
  return NFS4_OK;
}

nfsstat4 op_savefh(CompoundContext& context, const SAVEFH4args&, SAVEFH4res&) {
  context.saved = context.current;
  context.saved_stateid = context.current_stateid;
  return NFS4_OK;
}

nfsstat4 op_restorefh(CompoundContext& context, const RESTOREFH4args&, RESTOREFH4res&) {
  if (!context.saved) return NFS4ERR_RESTOREFH;
  context.set_current(context.saved);
  context.current_stateid = context.saved_stateid;
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
