// Callbacks, operations from the server to a client: RFC 8881 sections 20.1, 20.2, 20.6, 20.8, 20.9
// and 20.11. The others are known by number only.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// CB_SEQUENCE

struct referring_call4 {
  sequenceid4 rc_sequenceid = 0;
  slotid4 rc_slotid = 0;

  static void fields(auto& self, auto& visit) {
    visit("rc_sequenceid", self.rc_sequenceid);
    visit("rc_slotid", self.rc_slotid);
  }
};

struct referring_call_list4 {
  sessionid4 rcl_sessionid{};
  std::vector<referring_call4> rcl_referring_calls;

  static void fields(auto& self, auto& visit) {
    visit("rcl_sessionid", self.rcl_sessionid);
    visit("rcl_referring_calls", self.rcl_referring_calls, kMaxArray);
  }
};

struct CB_SEQUENCE4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_SEQUENCE;
  sessionid4 csa_sessionid{};
  sequenceid4 csa_sequenceid = 0;
  slotid4 csa_slotid = 0;
  slotid4 csa_highest_slotid = 0;
  bool csa_cachethis = false;
  std::vector<referring_call_list4> csa_referring_call_lists;

  static void fields(auto& self, auto& visit) {
    visit("csa_sessionid", self.csa_sessionid);
    visit("csa_sequenceid", self.csa_sequenceid);
    visit("csa_slotid", self.csa_slotid);
    visit("csa_highest_slotid", self.csa_highest_slotid);
    visit("csa_cachethis", self.csa_cachethis);
    visit("csa_referring_call_lists", self.csa_referring_call_lists, kMaxArray);
  }
};

struct CB_SEQUENCE4resok {
  sessionid4 csr_sessionid{};
  sequenceid4 csr_sequenceid = 0;
  slotid4 csr_slotid = 0;
  slotid4 csr_highest_slotid = 0;
  slotid4 csr_target_highest_slotid = 0;

  static void fields(auto& self, auto& visit) {
    visit("csr_sessionid", self.csr_sessionid);
    visit("csr_sequenceid", self.csr_sequenceid);
    visit("csr_slotid", self.csr_slotid);
    visit("csr_highest_slotid", self.csr_highest_slotid);
    visit("csr_target_highest_slotid", self.csr_target_highest_slotid);
  }
};

struct CB_SEQUENCE4res {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_SEQUENCE;
  nfsstat4 csr_status = NFS4_OK;
  CB_SEQUENCE4resok csr_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("csr_status", self.csr_status, arm(NFS4_OK, "csr_resok4", self.csr_resok4),
                 otherwise());
  }
};

// CB_GETATTR, CB_RECALL

struct CB_GETATTR4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_GETATTR;
  nfs_fh4 fh;
  bitmap4 attr_request;

  static void fields(auto& self, auto& visit) {
    visit("fh", self.fh);
    visit("attr_request", self.attr_request);
  }
};

struct CB_RECALL4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALL;
  stateid4 stateid;
  bool truncate = false;
  nfs_fh4 fh;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("truncate", self.truncate);
    visit("fh", self.fh);
  }
};

// CB_RECALL_ANY, CB_RECALL_SLOT

inline constexpr std::uint32_t RCA4_TYPE_MASK_RDATA_DLG = 0;
inline constexpr std::uint32_t RCA4_TYPE_MASK_WDATA_DLG = 1;

struct CB_RECALL_ANY4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALL_ANY;
  std::uint32_t craa_objects_to_keep = 0;
  bitmap4 craa_type_mask;

  static void fields(auto& self, auto& visit) {
    visit("craa_objects_to_keep", self.craa_objects_to_keep);
    visit("craa_type_mask", self.craa_type_mask);
  }
};

struct CB_RECALL_SLOT4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_RECALL_SLOT;
  slotid4 rsa_target_highest_slotid = 0;

  static void fields(auto& self, auto& visit) {
    visit("rsa_target_highest_slotid", self.rsa_target_highest_slotid);
  }
};

// CB_NOTIFY_LOCK

struct CB_NOTIFY_LOCK4args {
  static constexpr nfs_cb_opnum4 opnum = OP_CB_NOTIFY_LOCK;
  nfs_fh4 cnla_fh;
  lock_owner4 cnla_lock_owner;

  static void fields(auto& self, auto& visit) {
    visit("cnla_fh", self.cnla_fh);
    visit("cnla_lock_owner", self.cnla_lock_owner);
  }
};

}  // namespace nfsrdma::nfs4
