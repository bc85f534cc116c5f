// Client ids, sessions and their channels: operations of RFC 8881 sections 18.34 to 18.37, 18.46,
// 18.48, 18.50 and 18.51.
#pragma once

#include "client/proto/security.h"
#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// EXCHANGE_ID

inline constexpr std::uint32_t EXCHGID4_FLAG_USE_NON_PNFS = 0x00010000;
inline constexpr std::uint32_t EXCHGID4_FLAG_USE_PNFS_DS = 0x00040000;
inline constexpr std::uint32_t EXCHGID4_FLAG_MASK_PNFS = 0x00070000;
inline constexpr std::uint32_t EXCHGID4_FLAG_CONFIRMED_R = 0x80000000;

struct client_owner4 {
  verifier4 co_verifier{};
  std::span<const std::byte> co_ownerid;

  static void fields(auto& self, auto& visit) {
    visit("co_verifier", self.co_verifier);
    visit("co_ownerid", self.co_ownerid, NFS4_OPAQUE_LIMIT);
  }
};

struct server_owner4 {
  std::uint64_t so_minor_id = 0;
  std::span<const std::byte> so_major_id;

  static void fields(auto& self, auto& visit) {
    visit("so_minor_id", self.so_minor_id);
    visit("so_major_id", self.so_major_id, NFS4_OPAQUE_LIMIT);
  }
};

struct nfs_impl_id4 {
  std::string_view nii_domain;
  std::string_view nii_name;
  nfstime4 nii_date;

  static void fields(auto& self, auto& visit) {
    visit("nii_domain", self.nii_domain, kMaxText);
    visit("nii_name", self.nii_name, kMaxText);
    visit("nii_date", self.nii_date);
  }
};

struct EXCHANGE_ID4args {
  static constexpr nfs_opnum4 opnum = OP_EXCHANGE_ID;
  client_owner4 eia_clientowner;
  std::uint32_t eia_flags = 0;
  state_protect4_a eia_state_protect;
  std::optional<nfs_impl_id4> eia_client_impl_id;

  static void fields(auto& self, auto& visit) {
    visit("eia_clientowner", self.eia_clientowner);
    visit("eia_flags", self.eia_flags);
    visit("eia_state_protect", self.eia_state_protect);
    visit("eia_client_impl_id", self.eia_client_impl_id);
  }
};

struct EXCHANGE_ID4resok {
  clientid4 eir_clientid = 0;
  sequenceid4 eir_sequenceid = 0;
  std::uint32_t eir_flags = 0;
  state_protect4_r eir_state_protect;
  server_owner4 eir_server_owner;
  std::span<const std::byte> eir_server_scope;
  std::optional<nfs_impl_id4> eir_server_impl_id;

  static void fields(auto& self, auto& visit) {
    visit("eir_clientid", self.eir_clientid);
    visit("eir_sequenceid", self.eir_sequenceid);
    visit("eir_flags", self.eir_flags);
    visit("eir_state_protect", self.eir_state_protect);
    visit("eir_server_owner", self.eir_server_owner);
    visit("eir_server_scope", self.eir_server_scope, NFS4_OPAQUE_LIMIT);
    visit("eir_server_impl_id", self.eir_server_impl_id);
  }
};

struct EXCHANGE_ID4res {
  static constexpr nfs_opnum4 opnum = OP_EXCHANGE_ID;
  nfsstat4 eir_status = NFS4_OK;
  EXCHANGE_ID4resok eir_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("eir_status", self.eir_status, arm(NFS4_OK, "eir_resok4", self.eir_resok4),
                 otherwise());
  }
};

// CREATE_SESSION

inline constexpr std::uint32_t CREATE_SESSION4_FLAG_CONN_BACK_CHAN = 0x00000002;

struct channel_attrs4 {
  count4 ca_headerpadsize = 0;
  count4 ca_maxrequestsize = 0;
  count4 ca_maxresponsesize = 0;
  count4 ca_maxresponsesize_cached = 0;
  count4 ca_maxoperations = 0;
  count4 ca_maxrequests = 0;
  std::optional<std::uint32_t> ca_rdma_ird;

  static void fields(auto& self, auto& visit) {
    visit("ca_headerpadsize", self.ca_headerpadsize);
    visit("ca_maxrequestsize", self.ca_maxrequestsize);
    visit("ca_maxresponsesize", self.ca_maxresponsesize);
    visit("ca_maxresponsesize_cached", self.ca_maxresponsesize_cached);
    visit("ca_maxoperations", self.ca_maxoperations);
    visit("ca_maxrequests", self.ca_maxrequests);
    visit("ca_rdma_ird", self.ca_rdma_ird);
  }
};

struct CREATE_SESSION4args {
  static constexpr nfs_opnum4 opnum = OP_CREATE_SESSION;
  clientid4 csa_clientid = 0;
  sequenceid4 csa_sequence = 0;
  std::uint32_t csa_flags = 0;
  channel_attrs4 csa_fore_chan_attrs;
  channel_attrs4 csa_back_chan_attrs;
  std::uint32_t csa_cb_program = 0;
  std::vector<callback_sec_parms4> csa_sec_parms;

  static void fields(auto& self, auto& visit) {
    visit("csa_clientid", self.csa_clientid);
    visit("csa_sequence", self.csa_sequence);
    visit("csa_flags", self.csa_flags);
    visit("csa_fore_chan_attrs", self.csa_fore_chan_attrs);
    visit("csa_back_chan_attrs", self.csa_back_chan_attrs);
    visit("csa_cb_program", self.csa_cb_program);
    visit("csa_sec_parms", self.csa_sec_parms, kMaxSecParms);
  }
};

struct CREATE_SESSION4resok {
  sessionid4 csr_sessionid{};
  sequenceid4 csr_sequence = 0;
  std::uint32_t csr_flags = 0;
  channel_attrs4 csr_fore_chan_attrs;
  channel_attrs4 csr_back_chan_attrs;

  static void fields(auto& self, auto& visit) {
    visit("csr_sessionid", self.csr_sessionid);
    visit("csr_sequence", self.csr_sequence);
    visit("csr_flags", self.csr_flags);
    visit("csr_fore_chan_attrs", self.csr_fore_chan_attrs);
    visit("csr_back_chan_attrs", self.csr_back_chan_attrs);
  }
};

struct CREATE_SESSION4res {
  static constexpr nfs_opnum4 opnum = OP_CREATE_SESSION;
  nfsstat4 csr_status = NFS4_OK;
  CREATE_SESSION4resok csr_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("csr_status", self.csr_status, arm(NFS4_OK, "csr_resok4", self.csr_resok4),
                 otherwise());
  }
};

// SEQUENCE

inline constexpr std::uint32_t SEQ4_STATUS_CB_PATH_DOWN = 0x00000001;
inline constexpr std::uint32_t SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED = 0x00000008;
inline constexpr std::uint32_t SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED = 0x00000010;
inline constexpr std::uint32_t SEQ4_STATUS_ADMIN_STATE_REVOKED = 0x00000020;
inline constexpr std::uint32_t SEQ4_STATUS_RECALLABLE_STATE_REVOKED = 0x00000040;
inline constexpr std::uint32_t SEQ4_STATUS_RESTART_RECLAIM_NEEDED = 0x00000100;
inline constexpr std::uint32_t SEQ4_STATUS_CB_PATH_DOWN_SESSION = 0x00000200;
inline constexpr std::uint32_t SEQ4_STATUS_BACKCHANNEL_FAULT = 0x00000400;

struct SEQUENCE4args {
  static constexpr nfs_opnum4 opnum = OP_SEQUENCE;
  sessionid4 sa_sessionid{};
  sequenceid4 sa_sequenceid = 0;
  slotid4 sa_slotid = 0;
  slotid4 sa_highest_slotid = 0;
  bool sa_cachethis = false;

  static void fields(auto& self, auto& visit) {
    visit("sa_sessionid", self.sa_sessionid);
    visit("sa_sequenceid", self.sa_sequenceid);
    visit("sa_slotid", self.sa_slotid);
    visit("sa_highest_slotid", self.sa_highest_slotid);
    visit("sa_cachethis", self.sa_cachethis);
  }
};

struct SEQUENCE4resok {
  sessionid4 sr_sessionid{};
  sequenceid4 sr_sequenceid = 0;
  slotid4 sr_slotid = 0;
  slotid4 sr_highest_slotid = 0;
  slotid4 sr_target_highest_slotid = 0;
  std::uint32_t sr_status_flags = 0;

  static void fields(auto& self, auto& visit) {
    visit("sr_sessionid", self.sr_sessionid);
    visit("sr_sequenceid", self.sr_sequenceid);
    visit("sr_slotid", self.sr_slotid);
    visit("sr_highest_slotid", self.sr_highest_slotid);
    visit("sr_target_highest_slotid", self.sr_target_highest_slotid);
    visit("sr_status_flags", self.sr_status_flags);
  }
};

struct SEQUENCE4res {
  static constexpr nfs_opnum4 opnum = OP_SEQUENCE;
  nfsstat4 sr_status = NFS4_OK;
  SEQUENCE4resok sr_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("sr_status", self.sr_status, arm(NFS4_OK, "sr_resok4", self.sr_resok4),
                 otherwise());
  }
};

// RECLAIM_COMPLETE

struct RECLAIM_COMPLETE4args {
  static constexpr nfs_opnum4 opnum = OP_RECLAIM_COMPLETE;
  bool rca_one_fs = false;

  static void fields(auto& self, auto& visit) { visit("rca_one_fs", self.rca_one_fs); }
};

struct RECLAIM_COMPLETE4res {
  static constexpr nfs_opnum4 opnum = OP_RECLAIM_COMPLETE;
  nfsstat4 rcr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("rcr_status", self.rcr_status); }
};

// BIND_CONN_TO_SESSION

enum channel_dir_from_client4 : std::uint32_t {
  CDFC4_FORE = 0x1,
  CDFC4_BACK = 0x2,
  CDFC4_FORE_OR_BOTH = 0x3,
  CDFC4_BACK_OR_BOTH = 0x7,
};
constexpr bool is_defined(channel_dir_from_client4 dir) {
  return dir == CDFC4_FORE || dir == CDFC4_BACK || dir == CDFC4_FORE_OR_BOTH ||
         dir == CDFC4_BACK_OR_BOTH;
}

enum channel_dir_from_server4 : std::uint32_t {
  CDFS4_FORE = 0x1,
  CDFS4_BACK = 0x2,
  CDFS4_BOTH = 0x3,
};
constexpr bool is_defined(channel_dir_from_server4 dir) {
  return dir >= CDFS4_FORE && dir <= CDFS4_BOTH;
}

struct BIND_CONN_TO_SESSION4args {
  static constexpr nfs_opnum4 opnum = OP_BIND_CONN_TO_SESSION;
  sessionid4 bctsa_sessid{};
  channel_dir_from_client4 bctsa_dir = CDFC4_FORE_OR_BOTH;
  bool bctsa_use_conn_in_rdma_mode = false;

  static void fields(auto& self, auto& visit) {
    visit("bctsa_sessid", self.bctsa_sessid);
    visit("bctsa_dir", self.bctsa_dir);
    visit("bctsa_use_conn_in_rdma_mode", self.bctsa_use_conn_in_rdma_mode);
  }
};

struct BIND_CONN_TO_SESSION4resok {
  sessionid4 bctsr_sessid{};
  channel_dir_from_server4 bctsr_dir = CDFS4_FORE;
  bool bctsr_use_conn_in_rdma_mode = false;

  static void fields(auto& self, auto& visit) {
    visit("bctsr_sessid", self.bctsr_sessid);
    visit("bctsr_dir", self.bctsr_dir);
    visit("bctsr_use_conn_in_rdma_mode", self.bctsr_use_conn_in_rdma_mode);
  }
};

struct BIND_CONN_TO_SESSION4res {
  static constexpr nfs_opnum4 opnum = OP_BIND_CONN_TO_SESSION;
  nfsstat4 bctsr_status = NFS4_OK;
  BIND_CONN_TO_SESSION4resok bctsr_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("bctsr_status", self.bctsr_status, arm(NFS4_OK, "bctsr_resok4", self.bctsr_resok4),
                 otherwise());
  }
};

// DESTROY_SESSION, DESTROY_CLIENTID

struct DESTROY_SESSION4args {
  static constexpr nfs_opnum4 opnum = OP_DESTROY_SESSION;
  sessionid4 dsa_sessionid{};

  static void fields(auto& self, auto& visit) { visit("dsa_sessionid", self.dsa_sessionid); }
};

struct DESTROY_SESSION4res {
  static constexpr nfs_opnum4 opnum = OP_DESTROY_SESSION;
  nfsstat4 dsr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("dsr_status", self.dsr_status); }
};

struct DESTROY_CLIENTID4args {
  static constexpr nfs_opnum4 opnum = OP_DESTROY_CLIENTID;
  clientid4 dca_clientid = 0;

  static void fields(auto& self, auto& visit) { visit("dca_clientid", self.dca_clientid); }
};

struct DESTROY_CLIENTID4res {
  static constexpr nfs_opnum4 opnum = OP_DESTROY_CLIENTID;
  nfsstat4 dcr_status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("dcr_status", self.dcr_status); }
};

}  // namespace nfsrdma::nfs4
