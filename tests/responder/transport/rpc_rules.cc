#include "tests/responder/transport/rpc_rules.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kNullProcedureNumber = 0;
constexpr std::uint32_t kCompoundProcedure = 1;

}  // namespace

bool credential_acceptable(const rpc::CallHeader& header) {
  if (header.raw_flavor == rpc::AuthFlavor::none) return true;
  return header.raw_flavor == rpc::AuthFlavor::sys &&
         header.credential.flavor == rpc::AuthFlavor::sys;
}

std::optional<rpc::AcceptStat> answer_without_service(const rpc::CallHeader& header) {
  if (header.program != rpc::kNfsProgram) return rpc::AcceptStat::prog_unavail;
  if (header.version != rpc::kNfsVersion4) return rpc::AcceptStat::prog_mismatch;
  if (header.procedure == kNullProcedureNumber) return rpc::AcceptStat::success;
  if (header.procedure != kCompoundProcedure) return rpc::AcceptStat::proc_unavail;
  return std::nullopt;
}

OperationList operations_of(const rpc::CallHeader& header, const xdr::Decoder& arguments) {
  return header.procedure == kCompoundProcedure ? list_operations(arguments) : OperationList();
}

void encode_failure(xdr::Encoder& results, std::uint32_t xid, rpc::AcceptStat status) {
  results.rewind(0);
  if (status == rpc::AcceptStat::prog_mismatch) {
    rpc::encode_prog_mismatch(results, xid, rpc::kNfsVersion4, rpc::kNfsVersion4);
  } else {
    rpc::encode_accepted_reply(results, xid, status);
  }
}

}  // namespace nfsrdma::responder
