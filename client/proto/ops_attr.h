// Attributes and access: operations of RFC 8881 sections 18.1, 18.7, 18.30 and 18.31.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// ACCESS

inline constexpr std::uint32_t ACCESS4_READ = 0x01;
inline constexpr std::uint32_t ACCESS4_LOOKUP = 0x02;
inline constexpr std::uint32_t ACCESS4_MODIFY = 0x04;
inline constexpr std::uint32_t ACCESS4_EXTEND = 0x08;
inline constexpr std::uint32_t ACCESS4_DELETE = 0x10;
inline constexpr std::uint32_t ACCESS4_EXECUTE = 0x20;

struct ACCESS4args {
  static constexpr nfs_opnum4 opnum = OP_ACCESS;
  std::uint32_t access = 0;

  static void fields(auto& self, auto& visit) { visit("access", self.access); }
};

struct ACCESS4resok {
  std::uint32_t supported = 0;
  std::uint32_t access = 0;

  static void fields(auto& self, auto& visit) {
    visit("supported", self.supported);
    visit("access", self.access);
  }
};

using ACCESS4res = StatusOr<OP_ACCESS, ACCESS4resok>;

// GETATTR, SETATTR

struct GETATTR4args {
  static constexpr nfs_opnum4 opnum = OP_GETATTR;
  bitmap4 attr_request;

  static void fields(auto& self, auto& visit) { visit("attr_request", self.attr_request); }
};

struct GETATTR4resok {
  fattr4 obj_attributes;

  static void fields(auto& self, auto& visit) { visit("obj_attributes", self.obj_attributes); }
};

using GETATTR4res = StatusOr<OP_GETATTR, GETATTR4resok>;

struct SETATTR4args {
  static constexpr nfs_opnum4 opnum = OP_SETATTR;
  stateid4 stateid;
  fattr4 obj_attributes;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("obj_attributes", self.obj_attributes);
  }
};

/// attrsset is present with every status: the attributes set before the failure.
struct SETATTR4res {
  static constexpr nfs_opnum4 opnum = OP_SETATTR;
  /// But Linux knfsd leaves it out where the reply has no room (NFS4ERR_REP_TOO_BIG and the like).
  static constexpr bool may_end_with_status = true;
  nfsstat4 status = NFS4_OK;
  bitmap4 attrsset;

  static void fields(auto& self, auto& visit) {
    visit("status", self.status);
    visit("attrsset", self.attrsset);
  }
};

// VERIFY

struct VERIFY4args {
  static constexpr nfs_opnum4 opnum = OP_VERIFY;
  fattr4 obj_attributes;

  static void fields(auto& self, auto& visit) { visit("obj_attributes", self.obj_attributes); }
};

using VERIFY4res = StatusOnly<OP_VERIFY>;

}  // namespace nfsrdma::nfs4
