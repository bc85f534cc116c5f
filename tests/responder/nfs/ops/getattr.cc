// RFC 8881 section 18.7.
#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

nfsstat4 read_current(CompoundContext& context, const bitmap4& wanted, Attributes& attributes) {
  const auto stat = context.current_stat();
  if (!stat) return stat.error();
  return context.server.attributes.read(wanted, context.current, *stat, attributes);
}

// The version that the holder of a write delegation has, and the server has not, gets a change
// attribute of its own: no later version may have the same (RFC 8881 section 10.4.3).
nfsstat4 read_held(CompoundContext& context, const bitmap4& wanted, Attributes& attributes) {
  nfsstat4 status = read_current(context, wanted | bitmap4{FATTR4_CHANGE}, attributes);
  if (status != NFS4_OK) return status;
  bool dirty = false;
  status = context.server.clients->delegations.ask_holder(context, attributes, dirty);
  if (status != NFS4_OK || !dirty) return status;
  context.changed(context.current);
  const std::uint64_t size = attributes.size;
  status = read_current(context, wanted, attributes);
  attributes.size = size;
  return status;
}

}  // namespace

nfsstat4 op_getattr(CompoundContext& context, const GETATTR4args& args) {
  if (!(args.attr_request & write_only_attributes()).empty()) return NFS4ERR_INVAL;
  Attributes attributes;
  const bool held = !context.states().delegations_of(*context.current).empty();
  const nfsstat4 status = held ? read_held(context, args.attr_request, attributes)
                               : read_current(context, args.attr_request, attributes);
  if (status != NFS4_OK) return status;
  encode_attributes(context.out, args.attr_request, attributes);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
