// RFC 8881 section 18.7.
#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_getattr(CompoundContext& context, const GETATTR4args& args) {
  if (!(args.attr_request & write_only_attributes()).empty()) return NFS4ERR_INVAL;
  const auto stat = context.current_stat();
  if (!stat) return stat.error();
  Attributes attributes;
  nfsstat4 status =
      context.server.attributes.read(args.attr_request, context.current, *stat, attributes);
  if (status != NFS4_OK) return status;
  status = context.server.clients->delegations.ask_holder(*context.client, context.current,
                                                          attributes.size, attributes.change);
  if (status != NFS4_OK) return status;
  encode_attributes(context.out, args.attr_request, attributes);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
