// File attributes (RFC 8881 section 5): numbers, the decoded form, and its way in and out of
// fattr4.
#pragma once

#include "client/proto/types.h"
#include "transport/base/result.h"

namespace nfsrdma::nfs4 {

// REQUIRED (RFC 8881 section 5.6)
inline constexpr std::uint32_t FATTR4_SUPPORTED_ATTRS = 0;
inline constexpr std::uint32_t FATTR4_TYPE = 1;
inline constexpr std::uint32_t FATTR4_FH_EXPIRE_TYPE = 2;
inline constexpr std::uint32_t FATTR4_CHANGE = 3;
inline constexpr std::uint32_t FATTR4_SIZE = 4;
inline constexpr std::uint32_t FATTR4_LINK_SUPPORT = 5;
inline constexpr std::uint32_t FATTR4_SYMLINK_SUPPORT = 6;
inline constexpr std::uint32_t FATTR4_NAMED_ATTR = 7;
inline constexpr std::uint32_t FATTR4_FSID = 8;
inline constexpr std::uint32_t FATTR4_UNIQUE_HANDLES = 9;
inline constexpr std::uint32_t FATTR4_LEASE_TIME = 10;
inline constexpr std::uint32_t FATTR4_RDATTR_ERROR = 11;
inline constexpr std::uint32_t FATTR4_FILEHANDLE = 19;
inline constexpr std::uint32_t FATTR4_SUPPATTR_EXCLCREAT = 75;

// RECOMMENDED (RFC 8881 section 5.7)
inline constexpr std::uint32_t FATTR4_ACL = 12;
inline constexpr std::uint32_t FATTR4_ACLSUPPORT = 13;
inline constexpr std::uint32_t FATTR4_ARCHIVE = 14;
inline constexpr std::uint32_t FATTR4_CANSETTIME = 15;
inline constexpr std::uint32_t FATTR4_CASE_INSENSITIVE = 16;
inline constexpr std::uint32_t FATTR4_CASE_PRESERVING = 17;
inline constexpr std::uint32_t FATTR4_CHOWN_RESTRICTED = 18;
inline constexpr std::uint32_t FATTR4_FILEID = 20;
inline constexpr std::uint32_t FATTR4_FILES_AVAIL = 21;
inline constexpr std::uint32_t FATTR4_FILES_FREE = 22;
inline constexpr std::uint32_t FATTR4_FILES_TOTAL = 23;
inline constexpr std::uint32_t FATTR4_HIDDEN = 25;
inline constexpr std::uint32_t FATTR4_HOMOGENEOUS = 26;
inline constexpr std::uint32_t FATTR4_MAXFILESIZE = 27;
inline constexpr std::uint32_t FATTR4_MAXLINK = 28;
inline constexpr std::uint32_t FATTR4_MAXNAME = 29;
inline constexpr std::uint32_t FATTR4_MAXREAD = 30;
inline constexpr std::uint32_t FATTR4_MAXWRITE = 31;
inline constexpr std::uint32_t FATTR4_MODE = 33;
inline constexpr std::uint32_t FATTR4_NO_TRUNC = 34;
inline constexpr std::uint32_t FATTR4_NUMLINKS = 35;
inline constexpr std::uint32_t FATTR4_OWNER = 36;
inline constexpr std::uint32_t FATTR4_OWNER_GROUP = 37;
inline constexpr std::uint32_t FATTR4_QUOTA_AVAIL_HARD = 38;
inline constexpr std::uint32_t FATTR4_QUOTA_AVAIL_SOFT = 39;
inline constexpr std::uint32_t FATTR4_QUOTA_USED = 40;
inline constexpr std::uint32_t FATTR4_RAWDEV = 41;
inline constexpr std::uint32_t FATTR4_SPACE_AVAIL = 42;
inline constexpr std::uint32_t FATTR4_SPACE_FREE = 43;
inline constexpr std::uint32_t FATTR4_SPACE_TOTAL = 44;
inline constexpr std::uint32_t FATTR4_SPACE_USED = 45;
inline constexpr std::uint32_t FATTR4_SYSTEM = 46;
inline constexpr std::uint32_t FATTR4_TIME_ACCESS = 47;
inline constexpr std::uint32_t FATTR4_TIME_ACCESS_SET = 48;
inline constexpr std::uint32_t FATTR4_TIME_BACKUP = 49;
inline constexpr std::uint32_t FATTR4_TIME_CREATE = 50;
inline constexpr std::uint32_t FATTR4_TIME_DELTA = 51;
inline constexpr std::uint32_t FATTR4_TIME_METADATA = 52;
inline constexpr std::uint32_t FATTR4_TIME_MODIFY = 53;
inline constexpr std::uint32_t FATTR4_TIME_MODIFY_SET = 54;
inline constexpr std::uint32_t FATTR4_MOUNTED_ON_FILEID = 55;
inline constexpr std::uint32_t FATTR4_CHANGE_POLICY = 60;
inline constexpr std::uint32_t FATTR4_MODE_SET_MASKED = 74;
inline constexpr std::uint32_t FATTR4_FS_CHARSET_CAP = 76;

// fh_expire_type
inline constexpr std::uint32_t FH4_PERSISTENT = 0x00000000;

/// A user or group: a decimal number on the wire where possible (RFC 8881 section 5.9), else
/// "name@domain".
struct Owner {
  std::uint32_t id = 0;  ///< when `numeric`
  bool numeric = true;
  std::string_view name;  ///< when not `numeric`; a view like every decoded string

  friend bool operator==(const Owner& a, const Owner& b) {
    return a.numeric == b.numeric && (a.numeric ? a.id == b.id : a.name == b.name);
  }
  void encode_to(xdr::Encoder& out) const;
  void decode_from(xdr::Decoder& in, const char* field);
};

/// mode_set_masked: which bits of the mode to set, and to what.
struct mode_masked4 {
  mode4 mm_value_to_set = 0;
  mode4 mm_mask_bits = 0;

  static void fields(auto& self, auto& visit) {
    visit("mm_value_to_set", self.mm_value_to_set);
    visit("mm_mask_bits", self.mm_mask_bits);
  }
};

struct change_policy4 {
  std::uint64_t cp_major = 0;
  std::uint64_t cp_minor = 0;

  static void fields(auto& self, auto& visit) {
    visit("cp_major", self.cp_major);
    visit("cp_minor", self.cp_minor);
  }
};

/// Decoded attributes. A field means something only when its bit is in `present`. Holds no memory:
/// the owners' names alone view the message they came from.
struct Attributes {
  bitmap4 present;

  bitmap4 supported_attrs;
  nfs_ftype4 type = NF4REG;
  std::uint32_t fh_expire_type = FH4_PERSISTENT;
  changeid4 change = 0;
  std::uint64_t size = 0;  ///< bytes
  bool link_support = false;
  bool symlink_support = false;
  bool named_attr = false;
  fsid4 fsid;
  bool unique_handles = false;
  std::uint32_t lease_time = 0;  ///< seconds
  nfsstat4 rdattr_error = NFS4_OK;
  std::uint32_t aclsupport = 0;
  bool archive = false;
  bool cansettime = false;
  bool case_insensitive = false;
  bool case_preserving = false;
  bool chown_restricted = false;
  nfs_fh4 filehandle;
  std::uint64_t fileid = 0;
  std::uint64_t files_avail = 0;
  std::uint64_t files_free = 0;
  std::uint64_t files_total = 0;
  bool hidden = false;
  bool homogeneous = false;
  std::uint64_t maxfilesize = 0;  ///< bytes
  std::uint32_t maxlink = 0;
  std::uint32_t maxname = 0;   ///< bytes
  std::uint64_t maxread = 0;   ///< bytes
  std::uint64_t maxwrite = 0;  ///< bytes
  mode4 mode = 0;
  bool no_trunc = false;
  std::uint32_t numlinks = 0;
  Owner owner;
  Owner owner_group;
  std::uint64_t quota_avail_hard = 0;
  std::uint64_t quota_avail_soft = 0;
  std::uint64_t quota_used = 0;
  specdata4 rawdev;
  std::uint64_t space_avail = 0;  ///< bytes, as all of space_*
  std::uint64_t space_free = 0;
  std::uint64_t space_total = 0;
  std::uint64_t space_used = 0;
  bool system = false;
  nfstime4 time_access;
  settime4 time_access_set;
  nfstime4 time_backup;
  nfstime4 time_create;
  nfstime4 time_delta;
  nfstime4 time_metadata;
  nfstime4 time_modify;
  settime4 time_modify_set;
  std::uint64_t mounted_on_fileid = 0;
  change_policy4 change_policy;
  mode_masked4 mode_set_masked;
  bitmap4 suppattr_exclcreat;
  std::uint32_t fs_charset_cap = 0;

  bool has(std::uint32_t attribute) const { return present.test(attribute); }

  /// The one list of attributes, ascending: visit(number, name, field).
  static constexpr void attributes(auto& self, auto&& visit);
};

/// Every attribute that Attributes has a field for. Ask a server for no others.
const bitmap4& known_attributes();

/// "size"; "attribute" for a number that Attributes has no field for.
const char* attribute_name(std::uint32_t attribute);

/// Decodes `values` without allocating. An attribute without a field, a malformed value and bytes
/// left over are errors of Layer::decode that name the attribute.
Result<Attributes> decode_attributes(const fattr4& values);

/// Encodes a whole fattr4 with the attributes that are both wanted and present. False when it does
/// not fit.
bool encode_attributes(xdr::Encoder& out, const bitmap4& wanted, const Attributes& attributes);

/// Bytes of a fattr4 with these attributes at most, its bitmap and length word included. Counts
/// owners with kMaxOwner bytes.
std::size_t max_attributes_size(const bitmap4& wanted);
/// An owner's name that max_attributes_size reckons with, in bytes.
inline constexpr std::size_t kMaxOwner = 256;

constexpr void Attributes::attributes(auto& self, auto&& visit) {
  visit(FATTR4_SUPPORTED_ATTRS, "supported_attrs", self.supported_attrs);
  visit(FATTR4_TYPE, "type", self.type);
  visit(FATTR4_FH_EXPIRE_TYPE, "fh_expire_type", self.fh_expire_type);
  visit(FATTR4_CHANGE, "change", self.change);
  visit(FATTR4_SIZE, "size", self.size);
  visit(FATTR4_LINK_SUPPORT, "link_support", self.link_support);
  visit(FATTR4_SYMLINK_SUPPORT, "symlink_support", self.symlink_support);
  visit(FATTR4_NAMED_ATTR, "named_attr", self.named_attr);
  visit(FATTR4_FSID, "fsid", self.fsid);
  visit(FATTR4_UNIQUE_HANDLES, "unique_handles", self.unique_handles);
  visit(FATTR4_LEASE_TIME, "lease_time", self.lease_time);
  visit(FATTR4_RDATTR_ERROR, "rdattr_error", self.rdattr_error);
  visit(FATTR4_ACLSUPPORT, "aclsupport", self.aclsupport);
  visit(FATTR4_ARCHIVE, "archive", self.archive);
  visit(FATTR4_CANSETTIME, "cansettime", self.cansettime);
  visit(FATTR4_CASE_INSENSITIVE, "case_insensitive", self.case_insensitive);
  visit(FATTR4_CASE_PRESERVING, "case_preserving", self.case_preserving);
  visit(FATTR4_CHOWN_RESTRICTED, "chown_restricted", self.chown_restricted);
  visit(FATTR4_FILEHANDLE, "filehandle", self.filehandle);
  visit(FATTR4_FILEID, "fileid", self.fileid);
  visit(FATTR4_FILES_AVAIL, "files_avail", self.files_avail);
  visit(FATTR4_FILES_FREE, "files_free", self.files_free);
  visit(FATTR4_FILES_TOTAL, "files_total", self.files_total);
  visit(FATTR4_HIDDEN, "hidden", self.hidden);
  visit(FATTR4_HOMOGENEOUS, "homogeneous", self.homogeneous);
  visit(FATTR4_MAXFILESIZE, "maxfilesize", self.maxfilesize);
  visit(FATTR4_MAXLINK, "maxlink", self.maxlink);
  visit(FATTR4_MAXNAME, "maxname", self.maxname);
  visit(FATTR4_MAXREAD, "maxread", self.maxread);
  visit(FATTR4_MAXWRITE, "maxwrite", self.maxwrite);
  visit(FATTR4_MODE, "mode", self.mode);
  visit(FATTR4_NO_TRUNC, "no_trunc", self.no_trunc);
  visit(FATTR4_NUMLINKS, "numlinks", self.numlinks);
  visit(FATTR4_OWNER, "owner", self.owner);
  visit(FATTR4_OWNER_GROUP, "owner_group", self.owner_group);
  visit(FATTR4_QUOTA_AVAIL_HARD, "quota_avail_hard", self.quota_avail_hard);
  visit(FATTR4_QUOTA_AVAIL_SOFT, "quota_avail_soft", self.quota_avail_soft);
  visit(FATTR4_QUOTA_USED, "quota_used", self.quota_used);
  visit(FATTR4_RAWDEV, "rawdev", self.rawdev);
  visit(FATTR4_SPACE_AVAIL, "space_avail", self.space_avail);
  visit(FATTR4_SPACE_FREE, "space_free", self.space_free);
  visit(FATTR4_SPACE_TOTAL, "space_total", self.space_total);
  visit(FATTR4_SPACE_USED, "space_used", self.space_used);
  visit(FATTR4_SYSTEM, "system", self.system);
  visit(FATTR4_TIME_ACCESS, "time_access", self.time_access);
  visit(FATTR4_TIME_ACCESS_SET, "time_access_set", self.time_access_set);
  visit(FATTR4_TIME_BACKUP, "time_backup", self.time_backup);
  visit(FATTR4_TIME_CREATE, "time_create", self.time_create);
  visit(FATTR4_TIME_DELTA, "time_delta", self.time_delta);
  visit(FATTR4_TIME_METADATA, "time_metadata", self.time_metadata);
  visit(FATTR4_TIME_MODIFY, "time_modify", self.time_modify);
  visit(FATTR4_TIME_MODIFY_SET, "time_modify_set", self.time_modify_set);
  visit(FATTR4_MOUNTED_ON_FILEID, "mounted_on_fileid", self.mounted_on_fileid);
  visit(FATTR4_CHANGE_POLICY, "change_policy", self.change_policy);
  visit(FATTR4_MODE_SET_MASKED, "mode_set_masked", self.mode_set_masked);
  visit(FATTR4_SUPPATTR_EXCLCREAT, "suppattr_exclcreat", self.suppattr_exclcreat);
  visit(FATTR4_FS_CHARSET_CAP, "fs_charset_cap", self.fs_charset_cap);
}

}  // namespace nfsrdma::nfs4
