// Opening and closing files: operations of RFC 8881 sections 18.2, 18.16 and 18.18.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_READ = 0x00000001;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WRITE = 0x00000002;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_BOTH = 0x00000003;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_NONE = 0x00000000;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE = 0x00000000;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_READ_DELEG = 0x00000100;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG = 0x00000200;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_NO_DELEG = 0x00000400;

inline constexpr std::uint32_t OPEN4_RESULT_PRESERVE_UNLINKED = 0x00000008;

// The way a file is created

enum createmode4 : std::uint32_t {
  UNCHECKED4 = 0,
  GUARDED4 = 1,
  EXCLUSIVE4 = 2,
  EXCLUSIVE4_1 = 3,
};
constexpr bool is_defined(createmode4 mode) { return mode <= EXCLUSIVE4_1; }

struct creatverfattr {
  verifier4 cva_verf{};
  fattr4 cva_attrs;

  static void fields(auto& self, auto& visit) {
    visit("cva_verf", self.cva_verf);
    visit("cva_attrs", self.cva_attrs);
  }
};

struct createhow4 {
  createmode4 mode = UNCHECKED4;
  fattr4 createattrs;           ///< UNCHECKED4, GUARDED4
  verifier4 createverf{};       ///< EXCLUSIVE4
  creatverfattr ch_createboth;  ///< EXCLUSIVE4_1

  static void fields(auto& self, auto& visit) {
    visit.choose("mode", self.mode, arm(UNCHECKED4, "createattrs", self.createattrs),
                 arm(GUARDED4, "createattrs", self.createattrs),
                 arm(EXCLUSIVE4, "createverf", self.createverf),
                 arm(EXCLUSIVE4_1, "ch_createboth", self.ch_createboth));
  }
};

enum opentype4 : std::uint32_t { OPEN4_NOCREATE = 0, OPEN4_CREATE = 1 };
constexpr bool is_defined(opentype4 type) { return type <= OPEN4_CREATE; }

struct openflag4 {
  opentype4 opentype = OPEN4_NOCREATE;
  createhow4 how;  ///< OPEN4_CREATE

  static void fields(auto& self, auto& visit) {
    visit.choose("opentype", self.opentype, arm(OPEN4_CREATE, "how", self.how),
                 no_arm(OPEN4_NOCREATE));
  }
};

// Which file is opened, and by what right

enum open_delegation_type4 : std::uint32_t {
  OPEN_DELEGATE_NONE = 0,
  OPEN_DELEGATE_READ = 1,
  OPEN_DELEGATE_WRITE = 2,
  OPEN_DELEGATE_NONE_EXT = 3,
};
constexpr bool is_defined(open_delegation_type4 type) { return type <= OPEN_DELEGATE_NONE_EXT; }

enum open_claim_type4 : std::uint32_t {
  CLAIM_NULL = 0,
  CLAIM_PREVIOUS = 1,
  CLAIM_DELEGATE_CUR = 2,
  CLAIM_DELEGATE_PREV = 3,
  CLAIM_FH = 4,
  CLAIM_DELEG_CUR_FH = 5,
  CLAIM_DELEG_PREV_FH = 6,
};
constexpr bool is_defined(open_claim_type4 claim) { return claim <= CLAIM_DELEG_PREV_FH; }

struct open_claim_delegate_cur4 {
  stateid4 delegate_stateid;
  component4 file;

  static void fields(auto& self, auto& visit) {
    visit("delegate_stateid", self.delegate_stateid);
    visit("file", self.file, kMaxComponent);
  }
};

struct open_claim4 {
  open_claim_type4 claim = CLAIM_NULL;
  component4 file;                                           ///< CLAIM_NULL
  open_delegation_type4 delegate_type = OPEN_DELEGATE_NONE;  ///< CLAIM_PREVIOUS
  open_claim_delegate_cur4 delegate_cur_info;                ///< CLAIM_DELEGATE_CUR
  component4 file_delegate_prev;                             ///< CLAIM_DELEGATE_PREV
  stateid4 oc_delegate_stateid;                              ///< CLAIM_DELEG_CUR_FH

  static void fields(auto& self, auto& visit) {
    visit.choose(
        "claim", self.claim, arm(CLAIM_NULL, "file", self.file, kMaxComponent),
        arm(CLAIM_PREVIOUS, "delegate_type", self.delegate_type),
        arm(CLAIM_DELEGATE_CUR, "delegate_cur_info", self.delegate_cur_info),
        arm(CLAIM_DELEGATE_PREV, "file_delegate_prev", self.file_delegate_prev, kMaxComponent),
        no_arm(CLAIM_FH), arm(CLAIM_DELEG_CUR_FH, "oc_delegate_stateid", self.oc_delegate_stateid),
        no_arm(CLAIM_DELEG_PREV_FH));
  }
};

struct OPEN4args {
  static constexpr nfs_opnum4 opnum = OP_OPEN;
  seqid4 seqid = 0;  ///< not used in NFSv4.1
  std::uint32_t share_access = 0;
  std::uint32_t share_deny = 0;
  open_owner4 owner;
  openflag4 openhow;
  open_claim4 claim;

  static void fields(auto& self, auto& visit) {
    visit("seqid", self.seqid);
    visit("share_access", self.share_access);
    visit("share_deny", self.share_deny);
    visit("owner", self.owner);
    visit("openhow", self.openhow);
    visit("claim", self.claim);
  }
};

// The delegation that came with it

enum limit_by4 : std::uint32_t { NFS_LIMIT_SIZE = 1, NFS_LIMIT_BLOCKS = 2 };
constexpr bool is_defined(limit_by4 by) { return by >= NFS_LIMIT_SIZE && by <= NFS_LIMIT_BLOCKS; }

struct nfs_modified_limit4 {
  std::uint32_t num_blocks = 0;
  std::uint32_t bytes_per_block = 0;

  static void fields(auto& self, auto& visit) {
    visit("num_blocks", self.num_blocks);
    visit("bytes_per_block", self.bytes_per_block);
  }
};

/// How much may be written before the file must be flushed on close.
struct nfs_space_limit4 {
  limit_by4 limitby = NFS_LIMIT_SIZE;
  std::uint64_t filesize = 0;      ///< NFS_LIMIT_SIZE
  nfs_modified_limit4 mod_blocks;  ///< NFS_LIMIT_BLOCKS

  static void fields(auto& self, auto& visit) {
    visit.choose("limitby", self.limitby, arm(NFS_LIMIT_SIZE, "filesize", self.filesize),
                 arm(NFS_LIMIT_BLOCKS, "mod_blocks", self.mod_blocks));
  }
};

struct open_read_delegation4 {
  stateid4 stateid;
  bool recall = false;
  nfsace4 permissions;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("recall", self.recall);
    visit("permissions", self.permissions);
  }
};

struct open_write_delegation4 {
  stateid4 stateid;
  bool recall = false;
  nfs_space_limit4 space_limit;
  nfsace4 permissions;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("recall", self.recall);
    visit("space_limit", self.space_limit);
    visit("permissions", self.permissions);
  }
};

enum why_no_delegation4 : std::uint32_t {
  WND4_NOT_WANTED = 0,
  WND4_CONTENTION = 1,
  WND4_RESOURCE = 2,
  WND4_NOT_SUPP_FTYPE = 3,
  WND4_WRITE_DELEG_NOT_SUPP_FTYPE = 4,
  WND4_NOT_SUPP_UPGRADE = 5,
  WND4_NOT_SUPP_DOWNGRADE = 6,
  WND4_CANCELLED = 7,
  WND4_IS_DIR = 8,
};
constexpr bool is_defined(why_no_delegation4 why) { return why <= WND4_IS_DIR; }

struct open_none_delegation4 {
  why_no_delegation4 ond_why = WND4_NOT_WANTED;
  bool ond_server_will_push_deleg = false;    ///< WND4_CONTENTION
  bool ond_server_will_signal_avail = false;  ///< WND4_RESOURCE

  static void fields(auto& self, auto& visit) {
    visit.choose(
        "ond_why", self.ond_why,
        arm(WND4_CONTENTION, "ond_server_will_push_deleg", self.ond_server_will_push_deleg),
        arm(WND4_RESOURCE, "ond_server_will_signal_avail", self.ond_server_will_signal_avail),
        otherwise());
  }
};

struct open_delegation4 {
  open_delegation_type4 delegation_type = OPEN_DELEGATE_NONE;
  open_read_delegation4 read;        ///< OPEN_DELEGATE_READ
  open_write_delegation4 write;      ///< OPEN_DELEGATE_WRITE
  open_none_delegation4 od_whynone;  ///< OPEN_DELEGATE_NONE_EXT

  static void fields(auto& self, auto& visit) {
    visit.choose("delegation_type", self.delegation_type, no_arm(OPEN_DELEGATE_NONE),
                 arm(OPEN_DELEGATE_READ, "read", self.read),
                 arm(OPEN_DELEGATE_WRITE, "write", self.write),
                 arm(OPEN_DELEGATE_NONE_EXT, "od_whynone", self.od_whynone));
  }
};

struct OPEN4resok {
  stateid4 stateid;
  change_info4 cinfo;
  std::uint32_t rflags = 0;
  bitmap4 attrset;
  open_delegation4 delegation;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("cinfo", self.cinfo);
    visit("rflags", self.rflags);
    visit("attrset", self.attrset);
    visit("delegation", self.delegation);
  }
};

using OPEN4res = StatusOr<OP_OPEN, OPEN4resok>;

// CLOSE, OPEN_DOWNGRADE

struct CLOSE4args {
  static constexpr nfs_opnum4 opnum = OP_CLOSE;
  seqid4 seqid = 0;  ///< not used in NFSv4.1
  stateid4 open_stateid;

  static void fields(auto& self, auto& visit) {
    visit("seqid", self.seqid);
    visit("open_stateid", self.open_stateid);
  }
};

struct CLOSE4res {
  static constexpr nfs_opnum4 opnum = OP_CLOSE;
  nfsstat4 status = NFS4_OK;
  stateid4 open_stateid;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "open_stateid", self.open_stateid),
                 otherwise());
  }
};

struct OPEN_DOWNGRADE4args {
  static constexpr nfs_opnum4 opnum = OP_OPEN_DOWNGRADE;
  stateid4 open_stateid;
  seqid4 seqid = 0;  ///< not used in NFSv4.1
  std::uint32_t share_access = 0;
  std::uint32_t share_deny = 0;

  static void fields(auto& self, auto& visit) {
    visit("open_stateid", self.open_stateid);
    visit("seqid", self.seqid);
    visit("share_access", self.share_access);
    visit("share_deny", self.share_deny);
  }
};

struct OPEN_DOWNGRADE4resok {
  stateid4 open_stateid;

  static void fields(auto& self, auto& visit) { visit("open_stateid", self.open_stateid); }
};

using OPEN_DOWNGRADE4res = StatusOr<OP_OPEN_DOWNGRADE, OPEN_DOWNGRADE4resok>;

}  // namespace nfsrdma::nfs4
