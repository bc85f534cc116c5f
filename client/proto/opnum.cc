#include "client/proto/opnum.h"

#include <array>

namespace nfsrdma::nfs4 {
namespace {

// By number, from OP_ACCESS on.
constexpr std::array<std::string_view, 56> kOperations = {
    "ACCESS",
    "CLOSE",
    "COMMIT",
    "CREATE",
    "DELEGPURGE",
    "DELEGRETURN",
    "GETATTR",
    "GETFH",
    "LINK",
    "LOCK",
    "LOCKT",
    "LOCKU",
    "LOOKUP",
    "LOOKUPP",
    "NVERIFY",
    "OPEN",
    "OPENATTR",
    "OPEN_CONFIRM",
    "OPEN_DOWNGRADE",
    "PUTFH",
    "PUTPUBFH",
    "PUTROOTFH",
    "READ",
    "READDIR",
    "READLINK",
    "REMOVE",
    "RENAME",
    "RENEW",
    "RESTOREFH",
    "SAVEFH",
    "SECINFO",
    "SETATTR",
    "SETCLIENTID",
    "SETCLIENTID_CONFIRM",
    "VERIFY",
    "WRITE",
    "RELEASE_LOCKOWNER",
    "BACKCHANNEL_CTL",
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "FREE_STATEID",
    "GET_DIR_DELEGATION",
    "GETDEVICEINFO",
    "GETDEVICELIST",
    "LAYOUTCOMMIT",
    "LAYOUTGET",
    "LAYOUTRETURN",
    "SECINFO_NO_NAME",
    "SEQUENCE",
    "SET_SSV",
    "TEST_STATEID",
    "WANT_DELEGATION",
    "DESTROY_CLIENTID",
    "RECLAIM_COMPLETE",
};

}  // namespace

std::string_view operation_name(nfs_opnum4 opnum) {
  if (opnum == OP_ILLEGAL) return "ILLEGAL";
  return is_defined(opnum) ? kOperations[opnum - OP_ACCESS] : "unknown";
}

bool is_defined(nfs_opnum4 opnum) {
  return opnum == OP_ILLEGAL || (opnum >= OP_ACCESS && opnum <= OP_RECLAIM_COMPLETE);
}

bool is_defined(nfs_cb_opnum4 opnum) {
  return opnum == OP_CB_ILLEGAL || (opnum >= OP_CB_GETATTR && opnum <= OP_CB_NOTIFY_DEVICEID);
}

}  // namespace nfsrdma::nfs4
