// File handles, names and directories: operations of RFC 8881
// sections 18.4, 18.8, 18.9, 18.13, 18.19, 18.21, 18.23, 18.25 to 18.29 and 18.45.
#pragma once

#include "client/proto/security.h"
#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// File handles

using PUTROOTFH4args = EmptyArgs<OP_PUTROOTFH>;
using PUTROOTFH4res = StatusOnly<OP_PUTROOTFH>;

using SAVEFH4args = EmptyArgs<OP_SAVEFH>;
using SAVEFH4res = StatusOnly<OP_SAVEFH>;

using RESTOREFH4args = EmptyArgs<OP_RESTOREFH>;
using RESTOREFH4res = StatusOnly<OP_RESTOREFH>;

struct PUTFH4args {
  static constexpr nfs_opnum4 opnum = OP_PUTFH;
  nfs_fh4 object;

  static void fields(auto& self, auto& visit) { visit("object", self.object); }
};

using PUTFH4res = StatusOnly<OP_PUTFH>;

using GETFH4args = EmptyArgs<OP_GETFH>;

struct GETFH4resok {
  nfs_fh4 object;

  static void fields(auto& self, auto& visit) { visit("object", self.object); }
};

using GETFH4res = StatusOr<OP_GETFH, GETFH4resok>;

// Names

struct LOOKUP4args {
  static constexpr nfs_opnum4 opnum = OP_LOOKUP;
  component4 objname;

  static void fields(auto& self, auto& visit) { visit("objname", self.objname, kMaxComponent); }
};

using LOOKUP4res = StatusOnly<OP_LOOKUP>;

/// The data of CREATE that depends on the type of the new object.
struct createtype4 {
  nfs_ftype4 type = NF4DIR;
  Payload linkdata;   ///< NF4LNK; DDP-eligible
  specdata4 devdata;  ///< NF4BLK, NF4CHR

  static void fields(auto& self, auto& visit) {
    visit.choose("type", self.type, arm(NF4LNK, "linkdata", self.linkdata, kMaxLinkText),
                 arm(NF4BLK, "devdata", self.devdata), arm(NF4CHR, "devdata", self.devdata),
                 otherwise());
  }
};

struct CREATE4args {
  static constexpr nfs_opnum4 opnum = OP_CREATE;
  createtype4 objtype;
  component4 objname;
  fattr4 createattrs;

  static void fields(auto& self, auto& visit) {
    visit("objtype", self.objtype);
    visit("objname", self.objname, kMaxComponent);
    visit("createattrs", self.createattrs);
  }
};

struct CREATE4resok {
  change_info4 cinfo;
  bitmap4 attrset;

  static void fields(auto& self, auto& visit) {
    visit("cinfo", self.cinfo);
    visit("attrset", self.attrset);
  }
};

using CREATE4res = StatusOr<OP_CREATE, CREATE4resok>;

struct REMOVE4args {
  static constexpr nfs_opnum4 opnum = OP_REMOVE;
  component4 target;

  static void fields(auto& self, auto& visit) { visit("target", self.target, kMaxComponent); }
};

struct REMOVE4resok {
  change_info4 cinfo;

  static void fields(auto& self, auto& visit) { visit("cinfo", self.cinfo); }
};

using REMOVE4res = StatusOr<OP_REMOVE, REMOVE4resok>;

struct RENAME4args {
  static constexpr nfs_opnum4 opnum = OP_RENAME;
  component4 oldname;
  component4 newname;

  static void fields(auto& self, auto& visit) {
    visit("oldname", self.oldname, kMaxComponent);
    visit("newname", self.newname, kMaxComponent);
  }
};

struct RENAME4resok {
  change_info4 source_cinfo;
  change_info4 target_cinfo;

  static void fields(auto& self, auto& visit) {
    visit("source_cinfo", self.source_cinfo);
    visit("target_cinfo", self.target_cinfo);
  }
};

using RENAME4res = StatusOr<OP_RENAME, RENAME4resok>;

struct LINK4args {
  static constexpr nfs_opnum4 opnum = OP_LINK;
  component4 newname;

  static void fields(auto& self, auto& visit) { visit("newname", self.newname, kMaxComponent); }
};

struct LINK4resok {
  change_info4 cinfo;

  static void fields(auto& self, auto& visit) { visit("cinfo", self.cinfo); }
};

using LINK4res = StatusOr<OP_LINK, LINK4resok>;

// READDIR

struct READDIR4args {
  static constexpr nfs_opnum4 opnum = OP_READDIR;
  nfs_cookie4 cookie = 0;
  verifier4 cookieverf{};
  count4 dircount = 0;
  count4 maxcount = 0;
  bitmap4 attr_request;

  static void fields(auto& self, auto& visit) {
    visit("cookie", self.cookie);
    visit("cookieverf", self.cookieverf);
    visit("dircount", self.dircount);
    visit("maxcount", self.maxcount);
    visit("attr_request", self.attr_request);
  }
};

struct entry4 {
  nfs_cookie4 cookie = 0;
  component4 name;
  fattr4 attrs;

  static void fields(auto& self, auto& visit) {
    visit("cookie", self.cookie);
    visit("name", self.name, kMaxComponent);
    visit("attrs", self.attrs);
  }
};

struct dirlist4 {
  std::vector<entry4> entries;
  bool eof = false;

  static void fields(auto& self, auto& visit) {
    visit.list("entries", self.entries);
    visit("eof", self.eof);
  }
};

struct READDIR4resok {
  verifier4 cookieverf{};
  dirlist4 reply;

  static void fields(auto& self, auto& visit) {
    visit("cookieverf", self.cookieverf);
    visit("reply", self.reply);
  }
};

using READDIR4res = StatusOr<OP_READDIR, READDIR4resok>;

// SECINFO, SECINFO_NO_NAME

struct rpcsec_gss_info {
  std::span<const std::byte> oid;
  qop4 qop = 0;
  rpc_gss_svc_t service = RPC_GSS_SVC_NONE;

  static void fields(auto& self, auto& visit) {
    visit("oid", self.oid, NFS4_OPAQUE_LIMIT);
    visit("qop", self.qop);
    visit("service", self.service);
  }
};

/// A flavour the server accepts. Flavours other than RPCSEC_GSS have no details.
struct secinfo4 {
  std::uint32_t flavor = 0;
  rpcsec_gss_info flavor_info;  ///< RPCSEC_GSS

  static void fields(auto& self, auto& visit) {
    visit.choose("flavor", self.flavor, arm(kRpcsecGss, "flavor_info", self.flavor_info),
                 otherwise());
  }
};

enum secinfo_style4 : std::uint32_t { SECINFO_STYLE4_CURRENT_FH = 0, SECINFO_STYLE4_PARENT = 1 };
constexpr bool is_defined(secinfo_style4 style) { return style <= SECINFO_STYLE4_PARENT; }

struct SECINFO4args {
  static constexpr nfs_opnum4 opnum = OP_SECINFO;
  component4 name;

  static void fields(auto& self, auto& visit) { visit("name", self.name, kMaxComponent); }
};

struct SECINFO4res {
  static constexpr nfs_opnum4 opnum = OP_SECINFO;
  nfsstat4 status = NFS4_OK;
  std::vector<secinfo4> resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4, kMaxArray),
                 otherwise());
  }
};

struct SECINFO_NO_NAME4args {
  static constexpr nfs_opnum4 opnum = OP_SECINFO_NO_NAME;
  secinfo_style4 style = SECINFO_STYLE4_CURRENT_FH;

  static void fields(auto& self, auto& visit) { visit("style", self.style); }
};

struct SECINFO_NO_NAME4res {
  static constexpr nfs_opnum4 opnum = OP_SECINFO_NO_NAME;
  nfsstat4 status = NFS4_OK;
  std::vector<secinfo4> resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4, kMaxArray),
                 otherwise());
  }
};

}  // namespace nfsrdma::nfs4
