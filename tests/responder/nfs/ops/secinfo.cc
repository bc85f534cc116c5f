// SECINFO and SECINFO_NO_NAME: RFC 8881 sections 18.29 and 18.45.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

// Both operations use up the current file handle (RFC 8881 section 2.6.3.1.1.8).
nfsstat4 answer(CompoundContext& context, std::vector<secinfo4>& flavors) {
  flavors.resize(1);
  flavors.front().flavor = kAuthSys;
  context.set_current(nullptr);
  return NFS4_OK;
}

}  // namespace

nfsstat4 op_secinfo(CompoundContext& context, const SECINFO4args& args, SECINFO4res& result) {
  const Component name(args.name);
  if (name.status() != NFS4_OK) return name.status();
  const nfsstat4 wrong = not_a_directory(*context.current);
  if (wrong != NFS4_OK) return wrong;
  const auto found = context.files().lookup(context.who, context.current, name.c_str());
  if (!found) return found.error();
  return answer(context, result.resok4);
}

nfsstat4 op_secinfo_no_name(CompoundContext& context, const SECINFO_NO_NAME4args& args,
                            SECINFO_NO_NAME4res& result) {
  if (args.style == SECINFO_STYLE4_PARENT) {
    const auto found = context.files().lookup_parent(context.who, context.current);
    if (!found) return found.error();
  }
  return answer(context, result.resok4);
}

}  // namespace nfsrdma::responder
