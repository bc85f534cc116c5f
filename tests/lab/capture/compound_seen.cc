#include "tests/lab/capture/compound_seen.h"

#include <type_traits>

namespace nfsrdma::lab {
namespace {

using namespace nfs4;

// What is worth keeping of each operation; most have nothing.
void note(CompoundArguments&, const auto&) {}
void note(CompoundArguments& seen, const SEQUENCE4args& args) { seen.sequence = args; }
void note(CompoundArguments& seen, const CB_SEQUENCE4args& args) {
  seen.sequence = SEQUENCE4args{args.csa_sessionid, args.csa_sequenceid, args.csa_slotid,
                                args.csa_highest_slotid, args.csa_cachethis};
}
void note(CompoundArguments& seen, const CREATE_SESSION4args& args) {
  seen.client_id = args.csa_clientid;
  seen.create_sequence = args.csa_sequence;
  seen.create_flags = args.csa_flags;
  seen.fore_channel = args.csa_fore_chan_attrs;
  seen.back_channel = args.csa_back_chan_attrs;
}
void note(CompoundArguments& seen, const BIND_CONN_TO_SESSION4args& args) {
  seen.bound = args.bctsa_sessid;
}
void note(CompoundArguments& seen, const DESTROY_SESSION4args& args) {
  seen.destroyed = args.dsa_sessionid;
}

/// `in` stands behind the operation.
void note_eligible(CompoundArguments&, const xdr::Decoder&, const auto&) {}
void note_eligible(CompoundArguments& seen, const xdr::Decoder& in, const WRITE4args& args) {
  seen.eligible.push_back({in.offset() - xdr::padded(args.data.data.size()), args.data.data.size(),
                           seen.operations.size()});
}
void note_eligible(CompoundArguments& seen, const xdr::Decoder& in, const CREATE4args& args) {
  // Attributes follow the text of a link: its place is told by the view.
  const auto link = args.objtype.linkdata.data;
  if (link.empty()) return;
  const auto at = static_cast<std::size_t>(link.data() - in.message().data());
  seen.eligible.push_back({at, link.size(), seen.operations.size()});
}

void note(CompoundResults&, const auto&) {}
void note_payload(CompoundResults& seen, const Payload& payload) {
  if (!payload.placed && !payload.data.empty()) ++seen.inline_items;
}
void note(CompoundResults& seen, const READ4res& res) {
  if (res.status == NFS4_OK) note_payload(seen, res.resok4.data);
}
void note(CompoundResults& seen, const READLINK4res& res) {
  if (res.status == NFS4_OK) note_payload(seen, res.resok4.link);
}
void note(CompoundResults& seen, const SEQUENCE4res& res) { seen.sequence = res; }
void note(CompoundResults& seen, const CB_SEQUENCE4res& res) {
  const CB_SEQUENCE4resok& ok = res.csr_resok4;
  seen.sequence = SEQUENCE4res{
      res.csr_status, SEQUENCE4resok{ok.csr_sessionid, ok.csr_sequenceid, ok.csr_slotid,
                                     ok.csr_highest_slotid, ok.csr_target_highest_slotid, 0}};
}
void note(CompoundResults& seen, const CREATE_SESSION4res& res) {
  if (res.csr_status != NFS4_OK) return;
  seen.created = res.csr_resok4.csr_sessionid;
  seen.create_sequence = res.csr_resok4.csr_sequence;
  seen.create_flags = res.csr_resok4.csr_flags;
  seen.fore_channel = res.csr_resok4.csr_fore_chan_attrs;
  seen.back_channel = res.csr_resok4.csr_back_chan_attrs;
}
void note(CompoundResults& seen, const EXCHANGE_ID4res& res) {
  if (res.eir_status != NFS4_OK) return;
  seen.client_id = res.eir_resok4.eir_clientid;
  seen.client_sequence = res.eir_resok4.eir_sequenceid;
  seen.client_flags = res.eir_resok4.eir_flags;
}

std::string fault_of(const xdr::Decoder& in, std::uint32_t opnum) {
  return in.error(opnum == 0 ? "COMPOUND" : "operation").message() +
         (opnum == 0 ? "" : " (operation " + std::to_string(opnum) + ")");
}

template <class List>
void decode_each_argument(xdr::Decoder& in, CompoundArguments& seen) {
  for (std::uint32_t i = 0; i < seen.announced && in.ok(); ++i) {
    const std::uint32_t opnum = in.u32("argop");
    const bool known = List::dispatch(opnum, [&](auto operation) {
      typename decltype(operation)::Args args;
      decode(in, args);
      if (!in.ok()) return;
      note(seen, args);
      note_eligible(seen, in, args);
    });
    seen.eligible_results += operation_facts(opnum).payloads;
    if (in.ok() || known) seen.operations.push_back(opnum);
    if (!in.ok()) seen.fault = fault_of(in, opnum);
    if (!known) {
      seen.understood = false;
      return;
    }
  }
}

void note_placed(const xdr::Decoder& in, std::size_t before, std::vector<PlacedAt>& placed) {
  for (std::size_t item = before; item < in.placed_taken(); ++item) {
    if (in.placed()[item].data.data() != nullptr) placed.push_back({in.offset(), item});
  }
}

template <class List>
void decode_each_result(xdr::Decoder& in, CompoundResults& seen, std::vector<PlacedAt>& placed) {
  for (std::uint32_t i = 0; i < seen.announced && in.ok(); ++i) {
    const std::uint32_t opnum = in.u32("resop");
    nfsstat4 status = NFS4_OK;
    const std::size_t before = in.placed_taken();
    bool known = List::dispatch(opnum, [&](auto operation) {
      typename decltype(operation)::Res res;
      decode(in, res);
      status = status_of(res);
      if (in.ok()) note(seen, res);
    });
    if (opnum == OP_ILLEGAL) {
      Decode visit(in);
      visit("ILLEGAL status", status);
      known = true;
    }
    note_placed(in, before, placed);
    if (in.ok() && known) seen.operations.push_back({opnum, status});
    if (!in.ok()) seen.fault = fault_of(in, opnum);
    if (!known) {
      seen.understood = false;
      return;
    }
  }
}

}  // namespace

CompoundArguments decode_arguments(xdr::Decoder& in, bool callback) {
  CompoundArguments seen;
  seen.callback = callback;
  if (callback) {
    CB_COMPOUND4args_header header;
    decode(in, header);
    seen.minor_version = header.minorversion;
    seen.announced = header.operations;
  } else {
    COMPOUND4args_header header;
    decode(in, header);
    seen.minor_version = header.minorversion;
    seen.announced = header.operations;
  }
  if (!in.ok()) {
    seen.fault = fault_of(in, 0);
  } else if (callback) {
    decode_each_argument<CallbackOperations>(in, seen);
  } else {
    decode_each_argument<Operations>(in, seen);
  }
  if (seen.understood && in.ok() && in.remaining() != 0) {
    seen.fault = std::to_string(in.remaining()) + " bytes left over";
  }
  return seen;
}

CompoundResults decode_results(xdr::Decoder& in, bool callback, std::vector<PlacedAt>& placed) {
  CompoundResults seen;
  COMPOUND4res_header header;
  decode(in, header);
  seen.status = header.status;
  seen.announced = header.operations;
  if (!in.ok()) {
    seen.fault = fault_of(in, 0);
  } else if (callback) {
    decode_each_result<CallbackOperations>(in, seen, placed);
  } else {
    decode_each_result<Operations>(in, seen, placed);
  }
  if (seen.understood && in.ok() && in.remaining() != 0) {
    seen.fault = std::to_string(in.remaining()) + " bytes left over";
  }
  return seen;
}

}  // namespace nfsrdma::lab
