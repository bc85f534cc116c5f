// Operations and flags that the client neither sends nor answers, and results that it does not read
// or writes without a struct: RFC 8881 sections 18.5, 18.14, 18.15, 18.20, 18.33, 18.38 and 20.
#pragma once

#include "client/proto/compound.h"

namespace nfsrdma::nfs4 {

// Values and bits that the client neither sends nor looks at.

inline constexpr stateid4 kReadBypassStateid = [] {
  stateid4 id{UINT32_MAX, {}};
  id.other.fill(std::byte{0xff});
  return id;
}();
inline constexpr std::uint32_t OPEN4_SHARE_DENY_READ = 0x00000001;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_WRITE = 0x00000002;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_BOTH = 0x00000003;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_DELEG_MASK = 0x0000ff00;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_ANY_DELEG = 0x00000300;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_CANCEL = 0x00000500;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL = 0x00010000;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED = 0x00020000;
inline constexpr std::uint32_t OPEN4_RESULT_LOCKTYPE_POSIX = 0x00000004;
inline constexpr std::uint32_t EXCHGID4_FLAG_SUPP_MOVED_REFER = 0x00000001;
inline constexpr std::uint32_t EXCHGID4_FLAG_SUPP_MOVED_MIGR = 0x00000002;
inline constexpr std::uint32_t EXCHGID4_FLAG_BIND_PRINC_STATEID = 0x00000100;
inline constexpr std::uint32_t EXCHGID4_FLAG_USE_PNFS_MDS = 0x00020000;
inline constexpr std::uint32_t EXCHGID4_FLAG_UPD_CONFIRMED_REC_A = 0x40000000;
inline constexpr std::uint32_t CREATE_SESSION4_FLAG_PERSIST = 0x00000001;
inline constexpr std::uint32_t CREATE_SESSION4_FLAG_CONN_RDMA = 0x00000004;
inline constexpr std::uint32_t SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRING = 0x00000002;
inline constexpr std::uint32_t SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED = 0x00000004;
inline constexpr std::uint32_t SEQ4_STATUS_LEASE_MOVED = 0x00000080;
inline constexpr std::uint32_t SEQ4_STATUS_DEVID_CHANGED = 0x00000800;
inline constexpr std::uint32_t SEQ4_STATUS_DEVID_DELETED = 0x00001000;

// Operations

using LOOKUPP4args = EmptyArgs<OP_LOOKUPP>;
using LOOKUPP4res = StatusOnly<OP_LOOKUPP>;

using PUTPUBFH4args = EmptyArgs<OP_PUTPUBFH>;
using PUTPUBFH4res = StatusOnly<OP_PUTPUBFH>;

struct NVERIFY4args {
  static constexpr nfs_opnum4 opnum = OP_NVERIFY;
  fattr4 obj_attributes;

  static void fields(auto& self, auto& visit) { visit("obj_attributes", self.obj_attributes); }
};

using NVERIFY4res = StatusOnly<OP_NVERIFY>;

struct BACKCHANNEL_CTL4args {
  static constexpr nfs_opnum4 opnum = OP_BACKCHANNEL_CTL;
  std::uint32_t bca_cb_program = 0;
  std::vector<callback_sec_parms4> bca_sec_parms;

  static void fields(auto& self, auto& visit) {
    visit("bca_cb_program", self.bca_cb_program);
    visit("bca_sec_parms", self.bca_sec_parms, kMaxSecParms);
  }
};

struct BACKCHANNEL_CTL4res {
  static constexpr nfs_opnum4 opnum = OP_BACKCHANNEL_CTL;
  nfsstat4 bcr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("bcr_status", self.bcr_status); }
};

struct FREE_STATEID4res {
  static constexpr nfs_opnum4 opnum = OP_FREE_STATEID;
  nfsstat4 fsr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("fsr_status", self.fsr_status); }
};

struct DELEGPURGE4args {
  static constexpr nfs_opnum4 opnum = OP_DELEGPURGE;
  clientid4 clientid = 0;

  static void fields(auto& self, auto& visit) { visit("clientid", self.clientid); }
};

using DELEGPURGE4res = StatusOnly<OP_DELEGPURGE>;

// Callbacks

struct CB_GETATTR4resok {
  fattr4 obj_attributes;

  static void fields(auto& self, auto& visit) { visit("obj_attributes", self.obj_attributes); }
};

using CB_GETATTR4res = StatusOr<OP_CB_GETATTR, CB_GETATTR4resok>;

using CB_RECALL4res = StatusOnly<OP_CB_RECALL>;

struct CB_RECALL_ANY4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALL_ANY;
  nfsstat4 crar_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("crar_status", self.crar_status); }
};

struct CB_RECALL_SLOT4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALL_SLOT;
  nfsstat4 rsr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("rsr_status", self.rsr_status); }
};

/// The same arguments as CB_RECALL_ANY (RFC 8881 section 20.7).
struct CB_RECALLABLE_OBJ_AVAIL4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALLABLE_OBJ_AVAIL;
  std::uint32_t craa_objects_to_keep = 0;
  bitmap4 craa_type_mask;

  static void fields(auto& self, auto& visit) {
    visit("craa_objects_to_keep", self.craa_objects_to_keep);
    visit("craa_type_mask", self.craa_type_mask);
  }
};

struct CB_RECALLABLE_OBJ_AVAIL4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALLABLE_OBJ_AVAIL;
  nfsstat4 croa_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("croa_status", self.croa_status); }
};

struct CB_NOTIFY_LOCK4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_NOTIFY_LOCK;
  nfsstat4 cnlr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("cnlr_status", self.cnlr_status); }
};

struct CB_WANTS_CANCELLED4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_WANTS_CANCELLED;
  bool cwca_contended_wants_cancelled = false;
  bool cwca_resourced_wants_cancelled = false;

  static void fields(auto& self, auto& visit) {
    visit("cwca_contended_wants_cancelled", self.cwca_contended_wants_cancelled);
    visit("cwca_resourced_wants_cancelled", self.cwca_resourced_wants_cancelled);
  }
};

struct CB_WANTS_CANCELLED4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_WANTS_CANCELLED;
  nfsstat4 cwcr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("cwcr_status", self.cwcr_status); }
};

}  // namespace nfsrdma::nfs4
