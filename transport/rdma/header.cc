#include "transport/rdma/header.h"

namespace nfsrdma::rdma {
namespace {

void encode_error(xdr::Encoder& out, const RdmaError& error) {
  out.u32(error.err);
  if (error.err != ERR_VERS) return;
  out.u32(error.rdma_vers_low);
  out.u32(error.rdma_vers_high);
}

HeaderFault decode_error(xdr::Decoder& in, RdmaError& error, VersionRange taken) {
  error = {};
  if (in.remaining() < kMinError - kFixedWords) return HeaderFault::too_short;
  const std::uint32_t code = in.u32("rdma_err");
  error.err = static_cast<rpc_rdma_errcode>(code);
  switch (code) {
    case ERR_CHUNK: return HeaderFault::none;
    case ERR_VERS:
      if (in.remaining() < kErrVersSize - kMinError) return HeaderFault::too_short;
      error.rdma_vers_low = in.u32("rdma_vers_low");
      error.rdma_vers_high = in.u32("rdma_vers_high");
      return HeaderFault::none;
    case RDMA_ERR_INVAL_OPTION:
      if (taken.has(kVersionTwo)) return HeaderFault::none;
      break;
    default: break;
  }
  in.set_fault(xdr::Fault::bad_enum, "rdma_err");
  return HeaderFault::malformed;
}

HeaderFault decode_optional(xdr::Decoder& in, RdmaOptional& optional) {
  if (in.remaining() < kMinOptional - kFixedWords) return HeaderFault::too_short;
  optional.rdma_opttype = in.u32("rdma_opttype");
  optional.rdma_optinfo = in.opaque(kMaxOptInfo, "rdma_optinfo");
  return in.ok() ? HeaderFault::none : HeaderFault::malformed;
}

HeaderFault decode_lists(xdr::Decoder& in, Header& header) {
  if (in.remaining() < kChunkListsMin) return HeaderFault::too_short;
  decode_chunk_lists(in, header.chunks);
  if (header.proc == RDMA_NOMSG && header.chunks.all_absent()) {
    in.set_fault(xdr::Fault::unexpected, "RDMA_NOMSG without chunks");
  }
  return in.ok() ? HeaderFault::none : HeaderFault::malformed;
}

}  // namespace

const char* header_fault_name(HeaderFault fault) {
  switch (fault) {
    case HeaderFault::none: return "no fault";
    case HeaderFault::too_short: return "too short";
    case HeaderFault::version: return "unsupported version";
    case HeaderFault::undefined_proc: return "undefined rdma_proc";
    case HeaderFault::withdrawn_proc: return "withdrawn rdma_proc";
    case HeaderFault::malformed: return "malformed";
  }
  return "unknown fault";
}

void encode_header(xdr::Encoder& out, const Header& header) {
  out.u32(header.rdma_xid);
  out.u32(header.rdma_vers);
  out.u32(header.rdma_credit);
  out.u32(header.proc);
  switch (header.proc) {
    case RDMA_MSG:
    case RDMA_NOMSG: return encode_chunk_lists(out, header.chunks);
    case RDMA_ERROR: return encode_error(out, header.error);
    case RDMA_OPTIONAL:
      out.u32(header.optional.rdma_opttype);
      return out.opaque(header.optional.rdma_optinfo);
    case RDMA_MSGP:
    case RDMA_DONE: return;
  }
}

HeaderFault decode_header(xdr::Decoder& in, Header& header, VersionRange taken) {
  if (in.remaining() < kFixedWords) return HeaderFault::too_short;
  header.rdma_xid = in.u32("rdma_xid");
  header.rdma_vers = in.u32("rdma_vers");
  header.rdma_credit = in.u32("rdma_credit");
  header.proc = static_cast<rdma_proc>(in.u32("rdma_proc"));
  header.chunks.reset();
  header.optional = {};
  if (header.proc == RDMA_ERROR) return decode_error(in, header.error, taken);
  if (!taken.has(header.rdma_vers)) return HeaderFault::version;
  switch (header.proc) {
    case RDMA_MSG:
    case RDMA_NOMSG: return decode_lists(in, header);
    case RDMA_MSGP:
    case RDMA_DONE: return HeaderFault::withdrawn_proc;
    case RDMA_OPTIONAL:
      if (header.rdma_vers != kVersionOne) return decode_optional(in, header.optional);
      [[fallthrough]];
    default: in.set_fault(xdr::Fault::bad_enum, "rdma_proc"); return HeaderFault::undefined_proc;
  }
}

}  // namespace nfsrdma::rdma
