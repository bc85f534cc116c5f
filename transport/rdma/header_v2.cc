#include "transport/rdma/header_v2.h"

namespace nfsrdma::rdma::v2 {
namespace {

void encode_error(xdr::Encoder& out, const rpcrdma2_error& error) {
  out.u32(error.rdma_err);
  if (error.rdma_err != RDMA_ERR_VERS) return;
  out.u32(error.rdma_vers_low);
  out.u32(error.rdma_vers_high);
}

void decode_error(xdr::Decoder& in, rpcrdma2_error& error) {
  error = {};
  error.rdma_err = static_cast<rpcrdma2_errcode>(in.u32("rdma_err"));
  switch (error.rdma_err) {
    case RDMA_ERR_VERS:
      error.rdma_vers_low = in.u32("rdma_vers_low");
      error.rdma_vers_high = in.u32("rdma_vers_high");
      return;
    case RDMA_ERR_BAD_HEADER:
    case RDMA_ERR_INVAL_OPTION: return;
  }
  in.set_fault(xdr::Fault::bad_enum, "rdma_err");
}

void decode_body(xdr::Decoder& in, Header& header) {
  switch (header.proc) {
    case RDMA_MSG:
    case RDMA_NOMSG: return decode_chunk_lists(in, header.rdma_chunks);
    case RDMA_MSGP:
    case RDMA_DONE: return;
    case RDMA_ERROR: return decode_error(in, header.rdma_error);
    case RDMA_OPTIONAL:
      header.rdma_optional.rdma_opttype = in.u32("rdma_opttype");
      header.rdma_optional.rdma_optinfo = in.opaque(kMaxOptInfo, "rdma_optinfo");
      return;
  }
  in.set_fault(xdr::Fault::bad_enum, "rdma_proc");
}

}  // namespace

void encode_header(xdr::Encoder& out, const Header& header) {
  out.u32(header.rdma_xid);
  out.u32(header.rdma_vers);
  out.u32(header.rdma_credit);
  out.u32(header.proc);
  switch (header.proc) {
    case RDMA_MSG:
    case RDMA_NOMSG: return encode_chunk_lists(out, header.rdma_chunks);
    case RDMA_MSGP:
    case RDMA_DONE: return;
    case RDMA_ERROR: return encode_error(out, header.rdma_error);
    case RDMA_OPTIONAL:
      out.u32(header.rdma_optional.rdma_opttype);
      out.opaque(header.rdma_optional.rdma_optinfo);
      return;
  }
}

void decode_header(xdr::Decoder& in, Header& header) {
  header.rdma_chunks.reset();
  header.rdma_error = {};
  header.rdma_optional = {};
  header.rdma_xid = in.u32("rdma_xid");
  header.rdma_vers = in.u32("rdma_vers");
  header.rdma_credit = in.u32("rdma_credit");
  header.proc = static_cast<rpcrdma2_proc>(in.u32("rdma_proc"));
  if (header.rdma_vers != kVersionTwo) in.set_fault(xdr::Fault::unexpected, "rdma_vers");
  if (in.ok()) decode_body(in, header);
}

}  // namespace nfsrdma::rdma::v2
