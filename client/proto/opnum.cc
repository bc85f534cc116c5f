#include "client/proto/opnum.h"

namespace nfsrdma::nfs4 {
namespace {

constexpr std::string_view kUnknown = "unknown";

}  // namespace

// clang-format off
std::string_view operation_name(nfs_opnum4 opnum) {
  switch (opnum) {
#define NFSRDMA_UNTYPED_OPERATION(NAME, number, minor) case OP_##NAME: return #NAME;
#include "client/proto/operations.def"
    case OP_ILLEGAL: return "ILLEGAL";
  }
  return kUnknown;
}

std::string_view operation_name(nfs_cb_opnum4 opnum) {
  switch (opnum) {
#define NFSRDMA_UNTYPED_CALLBACK(NAME, number) case OP_##NAME: return #NAME;
#include "client/proto/operations.def"
    case OP_CB_ILLEGAL: return "CB_ILLEGAL";
  }
  return kUnknown;
}
// clang-format on

bool is_defined(nfs_opnum4 opnum) { return operation_name(opnum) != kUnknown; }
bool is_defined(nfs_cb_opnum4 opnum) { return operation_name(opnum) != kUnknown; }

}  // namespace nfsrdma::nfs4
