// Byte-range locks and the fate of stateids: operations of RFC 8881 sections 18.6, 18.10 to
// 18.12, 18.38 and 18.48.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

inline constexpr length4 kToEndOfFile = NFS4_UINT64_MAX;  ///< a lock's length: "up to any end"

enum nfs_lock_type4 : std::uint32_t {
  READ_LT = 1,
  WRITE_LT = 2,
  READW_LT = 3,   // blocking: the client will ask again
  WRITEW_LT = 4,  // blocking
};
constexpr bool is_defined(nfs_lock_type4 type) { return type >= READ_LT && type <= WRITEW_LT; }

/// The first lock of a lock owner on a file. The seqids are not used in NFSv4.1.
struct open_to_lock_owner4 {
  seqid4 open_seqid = 0;
  stateid4 open_stateid;
  seqid4 lock_seqid = 0;
  lock_owner4 lock_owner;

  static void fields(auto& self, auto& visit) {
    visit("open_seqid", self.open_seqid);
    visit("open_stateid", self.open_stateid);
    visit("lock_seqid", self.lock_seqid);
    visit("lock_owner", self.lock_owner);
  }
};

struct exist_lock_owner4 {
  stateid4 lock_stateid;
  seqid4 lock_seqid = 0;

  static void fields(auto& self, auto& visit) {
    visit("lock_stateid", self.lock_stateid);
    visit("lock_seqid", self.lock_seqid);
  }
};

struct locker4 {
  bool new_lock_owner = false;
  open_to_lock_owner4 open_owner;  ///< new_lock_owner
  exist_lock_owner4 lock_owner;    ///< otherwise

  static void fields(auto& self, auto& visit) {
    visit.choose("new_lock_owner", self.new_lock_owner, arm(true, "open_owner", self.open_owner),
                 arm(false, "lock_owner", self.lock_owner));
  }
};

struct LOCK4args {
  static constexpr nfs_opnum4 opnum = OP_LOCK;
  nfs_lock_type4 locktype = READ_LT;
  bool reclaim = false;
  offset4 offset = 0;
  length4 length = 0;
  locker4 locker;

  static void fields(auto& self, auto& visit) {
    visit("locktype", self.locktype);
    visit("reclaim", self.reclaim);
    visit("offset", self.offset);
    visit("length", self.length);
    visit("locker", self.locker);
  }
};

struct LOCK4denied {
  offset4 offset = 0;
  length4 length = 0;
  nfs_lock_type4 locktype = READ_LT;
  lock_owner4 owner;

  static void fields(auto& self, auto& visit) {
    visit("offset", self.offset);
    visit("length", self.length);
    visit("locktype", self.locktype);
    visit("owner", self.owner);
  }
};

struct LOCK4resok {
  stateid4 lock_stateid;

  static void fields(auto& self, auto& visit) { visit("lock_stateid", self.lock_stateid); }
};

struct LOCK4res {
  static constexpr nfs_opnum4 opnum = OP_LOCK;
  nfsstat4 status = NFS4_OK;
  LOCK4resok resok4;
  LOCK4denied denied;  ///< NFS4ERR_DENIED

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4),
                 arm(NFS4ERR_DENIED, "denied", self.denied), otherwise());
  }
};

struct LOCKT4args {
  static constexpr nfs_opnum4 opnum = OP_LOCKT;
  nfs_lock_type4 locktype = READ_LT;
  offset4 offset = 0;
  length4 length = 0;
  lock_owner4 owner;

  static void fields(auto& self, auto& visit) {
    visit("locktype", self.locktype);
    visit("offset", self.offset);
    visit("length", self.length);
    visit("owner", self.owner);
  }
};

struct LOCKT4res {
  static constexpr nfs_opnum4 opnum = OP_LOCKT;
  nfsstat4 status = NFS4_OK;
  LOCK4denied denied;  ///< NFS4ERR_DENIED

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4ERR_DENIED, "denied", self.denied), otherwise());
  }
};

struct LOCKU4args {
  static constexpr nfs_opnum4 opnum = OP_LOCKU;
  nfs_lock_type4 locktype = READ_LT;
  seqid4 seqid = 0;
  stateid4 lock_stateid;
  offset4 offset = 0;
  length4 length = 0;

  static void fields(auto& self, auto& visit) {
    visit("locktype", self.locktype);
    visit("seqid", self.seqid);
    visit("lock_stateid", self.lock_stateid);
    visit("offset", self.offset);
    visit("length", self.length);
  }
};

struct LOCKU4res {
  static constexpr nfs_opnum4 opnum = OP_LOCKU;
  nfsstat4 status = NFS4_OK;
  stateid4 lock_stateid;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "lock_stateid", self.lock_stateid),
                 otherwise());
  }
};

// State that is tested or given up

struct TEST_STATEID4args {
  static constexpr nfs_opnum4 opnum = OP_TEST_STATEID;
  std::vector<stateid4> ts_stateids;

  static void fields(auto& self, auto& visit) { visit("ts_stateids", self.ts_stateids, kMaxArray); }
};

struct TEST_STATEID4resok {
  std::vector<nfsstat4> tsr_status_codes;

  static void fields(auto& self, auto& visit) {
    visit("tsr_status_codes", self.tsr_status_codes, kMaxArray);
  }
};

struct TEST_STATEID4res {
  static constexpr nfs_opnum4 opnum = OP_TEST_STATEID;
  nfsstat4 tsr_status = NFS4_OK;
  TEST_STATEID4resok tsr_resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("tsr_status", self.tsr_status, arm(NFS4_OK, "tsr_resok4", self.tsr_resok4),
                 otherwise());
  }
};

struct FREE_STATEID4args {
  static constexpr nfs_opnum4 opnum = OP_FREE_STATEID;
  stateid4 fsa_stateid;

  static void fields(auto& self, auto& visit) { visit("fsa_stateid", self.fsa_stateid); }
};

struct DELEGRETURN4args {
  static constexpr nfs_opnum4 opnum = OP_DELEGRETURN;
  stateid4 deleg_stateid;

  static void fields(auto& self, auto& visit) { visit("deleg_stateid", self.deleg_stateid); }
};

using DELEGRETURN4res = StatusOnly<OP_DELEGRETURN>;

}  // namespace nfsrdma::nfs4
