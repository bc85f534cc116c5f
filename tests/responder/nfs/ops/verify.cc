// VERIFY and NVERIFY: RFC 8881 sections 18.31 and 18.15.
#include <algorithm>
#include <vector>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

// Whether the current file has exactly these attributes: compared as they are encoded.
Outcome<bool> matches(CompoundContext& context, const fattr4& expected) {
  if (!(expected.attrmask - supported_attributes()).empty()) return refuse(NFS4ERR_ATTRNOTSUPP);
  if (expected.attrmask.test(FATTR4_RDATTR_ERROR)) return refuse(NFS4ERR_INVAL);
  if (!(expected.attrmask & write_only_attributes()).empty()) return refuse(NFS4ERR_INVAL);
  if (!decode_attributes(expected)) return refuse(NFS4ERR_BADXDR);
  const auto stat = context.current_stat();
  if (!stat) return refuse(stat.error());
  Attributes attributes;
  const nfsstat4 status =
      context.server.attributes.read(expected.attrmask, context.current, *stat, attributes);
  if (status != NFS4_OK) return refuse(status);
  std::vector<std::byte> memory(max_attributes_size(expected.attrmask));
  xdr::Encoder actual(memory);
  encode_attributes(actual, expected.attrmask, attributes);
  std::vector<std::byte> expected_memory(memory.size() + xdr::padded(expected.attr_vals.size()));
  xdr::Encoder asked(expected_memory);
  encode(asked, expected);
  return std::ranges::equal(actual.encoded(), asked.encoded());
}

}  // namespace

nfsstat4 op_verify(CompoundContext& context, const VERIFY4args& args, VERIFY4res&) {
  const auto same = matches(context, args.obj_attributes);
  if (!same) return same.error();
  return *same ? NFS4_OK : NFS4ERR_NOT_SAME;
}

nfsstat4 op_nverify(CompoundContext& context, const NVERIFY4args& args, NVERIFY4res&) {
  const auto same = matches(context, args.obj_attributes);
  if (!same) return same.error();
  return *same ? NFS4ERR_SAME : NFS4_OK;
}

}  // namespace nfsrdma::responder
