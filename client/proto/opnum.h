// Operation numbers of NFSv4.1 COMPOUND and CB_COMPOUND (RFC 8881 sections 16.2 and 20).
#pragma once

#include <cstdint>
#include <string_view>

namespace nfsrdma::nfs4 {

enum nfs_opnum4 : std::uint32_t {
  OP_ACCESS = 3,
  OP_CLOSE = 4,
  OP_COMMIT = 5,
  OP_CREATE = 6,
  OP_DELEGPURGE = 7,
  OP_DELEGRETURN = 8,
  OP_GETATTR = 9,
  OP_GETFH = 10,
  OP_LINK = 11,
  OP_LOCK = 12,
  OP_LOCKT = 13,
  OP_LOCKU = 14,
  OP_LOOKUP = 15,
  OP_LOOKUPP = 16,
  OP_NVERIFY = 17,
  OP_OPEN = 18,
  OP_OPENATTR = 19,
  OP_OPEN_CONFIRM = 20,  // not in NFSv4.1
  OP_OPEN_DOWNGRADE = 21,
  OP_PUTFH = 22,
  OP_PUTPUBFH = 23,
  OP_PUTROOTFH = 24,
  OP_READ = 25,
  OP_READDIR = 26,
  OP_READLINK = 27,
  OP_REMOVE = 28,
  OP_RENAME = 29,
  OP_RENEW = 30,  // not in NFSv4.1
  OP_RESTOREFH = 31,
  OP_SAVEFH = 32,
  OP_SECINFO = 33,
  OP_SETATTR = 34,
  OP_SETCLIENTID = 35,          // not in NFSv4.1
  OP_SETCLIENTID_CONFIRM = 36,  // not in NFSv4.1
  OP_VERIFY = 37,
  OP_WRITE = 38,
  OP_RELEASE_LOCKOWNER = 39,  // not in NFSv4.1
  OP_BACKCHANNEL_CTL = 40,
  OP_BIND_CONN_TO_SESSION = 41,
  OP_EXCHANGE_ID = 42,
  OP_CREATE_SESSION = 43,
  OP_DESTROY_SESSION = 44,
  OP_FREE_STATEID = 45,
  OP_GET_DIR_DELEGATION = 46,
  OP_GETDEVICEINFO = 47,
  OP_GETDEVICELIST = 48,
  OP_LAYOUTCOMMIT = 49,
  OP_LAYOUTGET = 50,
  OP_LAYOUTRETURN = 51,
  OP_SECINFO_NO_NAME = 52,
  OP_SEQUENCE = 53,
  OP_SET_SSV = 54,
  OP_TEST_STATEID = 55,
  OP_WANT_DELEGATION = 56,
  OP_DESTROY_CLIENTID = 57,
  OP_RECLAIM_COMPLETE = 58,
  OP_ILLEGAL = 10044,
};

enum nfs_cb_opnum4 : std::uint32_t {
  OP_CB_GETATTR = 3,
  OP_CB_RECALL = 4,
  OP_CB_LAYOUTRECALL = 5,
  OP_CB_NOTIFY = 6,
  OP_CB_PUSH_DELEG = 7,
  OP_CB_RECALL_ANY = 8,
  OP_CB_RECALLABLE_OBJ_AVAIL = 9,
  OP_CB_RECALL_SLOT = 10,
  OP_CB_SEQUENCE = 11,
  OP_CB_WANTS_CANCELLED = 12,
  OP_CB_NOTIFY_LOCK = 13,
  OP_CB_NOTIFY_DEVICEID = 14,
  OP_CB_ILLEGAL = 10044,
};

/// "READ"; "unknown" for a number the protocol does not define.
std::string_view operation_name(nfs_opnum4 opnum);
bool is_defined(nfs_opnum4 opnum);
bool is_defined(nfs_cb_opnum4 opnum);

}  // namespace nfsrdma::nfs4
