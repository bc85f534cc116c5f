#include "tests/proto/operations.h"

namespace nfsrdma::nfs4 {
namespace {

// By number, from OP_CB_GETATTR on.
constexpr std::array<std::string_view, 12> kCallbacks = {
    "CB_GETATTR",    "CB_RECALL",          "CB_LAYOUTRECALL",         "CB_NOTIFY",
    "CB_PUSH_DELEG", "CB_RECALL_ANY",      "CB_RECALLABLE_OBJ_AVAIL", "CB_RECALL_SLOT",
    "CB_SEQUENCE",   "CB_WANTS_CANCELLED", "CB_NOTIFY_LOCK",          "CB_NOTIFY_DEVICEID",
};

}  // namespace

std::string_view operation_name(nfs_cb_opnum4 opnum) {
  if (opnum == OP_CB_ILLEGAL) return "CB_ILLEGAL";
  return is_defined(opnum) ? kCallbacks[opnum - OP_CB_GETATTR] : "unknown";
}

}  // namespace nfsrdma::nfs4
