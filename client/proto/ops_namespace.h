// File handles, names and directories: operations of RFC 8881
// sections 18.4, 18.8, 18.9, 18.13, 18.14, 18.19 to 18.21, 18.23, 18.25 to 18.29 and 18.45.
#pragma once

#include "client/proto/security.h"
#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// File handles

struct PUTROOTFH4args {
  static constexpr nfs_opnum4 opnum = OP_PUTROOTFH;

  static void fields(auto&, auto&) {}
};

struct PUTROOTFH4res {
  static constexpr nfs_opnum4 opnum = OP_PUTROOTFH;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct PUTPUBFH4args {
  static constexpr nfs_opnum4 opnum = OP_PUTPUBFH;

  static void fields(auto&, auto&) {}
};

struct PUTPUBFH4res {
  static constexpr nfs_opnum4 opnum = OP_PUTPUBFH;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct SAVEFH4args {
  static constexpr nfs_opnum4 opnum = OP_SAVEFH;

  static void fields(auto&, auto&) {}
};

struct SAVEFH4res {
  static constexpr nfs_opnum4 opnum = OP_SAVEFH;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct RESTOREFH4args {
  static constexpr nfs_opnum4 opnum = OP_RESTOREFH;

  static void fields(auto&, auto&) {}
};

struct RESTOREFH4res {
  static constexpr nfs_opnum4 opnum = OP_RESTOREFH;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct LOOKUPP4args {
  static constexpr nfs_opnum4 opnum = OP_LOOKUPP;

  static void fields(auto&, auto&) {}
};

struct LOOKUPP4res {
  static constexpr nfs_opnum4 opnum = OP_LOOKUPP;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct PUTFH4args {
  static constexpr nfs_opnum4 opnum = OP_PUTFH;
  nfs_fh4 object;

  static void fields(auto& self, auto& visit) { visit("object", self.object); }
};

struct PUTFH4res {
  static constexpr nfs_opnum4 opnum = OP_PUTFH;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

struct GETFH4args {
  static constexpr nfs_opnum4 opnum = OP_GETFH;

  static void fields(auto&, auto&) {}
};

struct GETFH4resok {
  nfs_fh4 object;

  static void fields(auto& self, auto& visit) { visit("object", self.object); }
};

struct GETFH4res {
  static constexpr nfs_opnum4 opnum = OP_GETFH;
  nfsstat4 status = NFS4_OK;
  GETFH4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

// Names

struct LOOKUP4args {
  static constexpr nfs_opnum4 opnum = OP_LOOKUP;
  component4 objname;

  static void fields(auto& self, auto& visit) { visit("objname", self.objname, kMaxComponent); }
};

struct LOOKUP4res {
  static constexpr nfs_opnum4 opnum = OP_LOOKUP;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

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

struct CREATE4res {
  static constexpr nfs_opnum4 opnum = OP_CREATE;
  nfsstat4 status = NFS4_OK;
  CREATE4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

struct REMOVE4args {
  static constexpr nfs_opnum4 opnum = OP_REMOVE;
  component4 target;

  static void fields(auto& self, auto& visit) { visit("target", self.target, kMaxComponent); }
};

struct REMOVE4resok {
  change_info4 cinfo;

  static void fields(auto& self, auto& visit) { visit("cinfo", self.cinfo); }
};

struct REMOVE4res {
  static constexpr nfs_opnum4 opnum = OP_REMOVE;
  nfsstat4 status = NFS4_OK;
  REMOVE4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

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

struct RENAME4res {
  static constexpr nfs_opnum4 opnum = OP_RENAME;
  nfsstat4 status = NFS4_OK;
  RENAME4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

struct LINK4args {
  static constexpr nfs_opnum4 opnum = OP_LINK;
  component4 newname;

  static void fields(auto& self, auto& visit) { visit("newname", self.newname, kMaxComponent); }
};

struct LINK4resok {
  change_info4 cinfo;

  static void fields(auto& self, auto& visit) { visit("cinfo", self.cinfo); }
};

struct LINK4res {
  static constexpr nfs_opnum4 opnum = OP_LINK;
  nfsstat4 status = NFS4_OK;
  LINK4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

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

struct READDIR4res {
  static constexpr nfs_opnum4 opnum = OP_READDIR;
  nfsstat4 status = NFS4_OK;
  READDIR4resok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

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
