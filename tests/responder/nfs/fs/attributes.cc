#include "tests/responder/nfs/fs/attributes.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <limits>

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::uint64_t kStatBlock = 512;

constexpr bitmap4 kWriteOnly{FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET,
                             FATTR4_MODE_SET_MASKED};

constexpr bitmap4 kSettable =
    kWriteOnly | bitmap4{FATTR4_SIZE, FATTR4_MODE, FATTR4_OWNER, FATTR4_OWNER_GROUP};

constexpr bitmap4 kOfFileSystem{FATTR4_FILES_AVAIL, FATTR4_FILES_FREE, FATTR4_FILES_TOTAL,
                                FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE, FATTR4_SPACE_TOTAL};

constexpr bitmap4 kSupported = kSettable | kOfFileSystem |
                               bitmap4{FATTR4_SUPPORTED_ATTRS,
                                       FATTR4_TYPE,
                                       FATTR4_FH_EXPIRE_TYPE,
                                       FATTR4_CHANGE,
                                       FATTR4_LINK_SUPPORT,
                                       FATTR4_SYMLINK_SUPPORT,
                                       FATTR4_NAMED_ATTR,
                                       FATTR4_FSID,
                                       FATTR4_UNIQUE_HANDLES,
                                       FATTR4_LEASE_TIME,
                                       FATTR4_RDATTR_ERROR,
                                       FATTR4_FILEHANDLE,
                                       FATTR4_SUPPATTR_EXCLCREAT,
                                       FATTR4_ACLSUPPORT,
                                       FATTR4_CANSETTIME,
                                       FATTR4_CASE_INSENSITIVE,
                                       FATTR4_CASE_PRESERVING,
                                       FATTR4_CHOWN_RESTRICTED,
                                       FATTR4_FILEID,
                                       FATTR4_HOMOGENEOUS,
                                       FATTR4_MAXFILESIZE,
                                       FATTR4_MAXLINK,
                                       FATTR4_MAXNAME,
                                       FATTR4_MAXREAD,
                                       FATTR4_MAXWRITE,
                                       FATTR4_NO_TRUNC,
                                       FATTR4_NUMLINKS,
                                       FATTR4_RAWDEV,
                                       FATTR4_SPACE_USED,
                                       FATTR4_TIME_ACCESS,
                                       FATTR4_TIME_CREATE,
                                       FATTR4_TIME_DELTA,
                                       FATTR4_TIME_METADATA,
                                       FATTR4_TIME_MODIFY,
                                       FATTR4_MOUNTED_ON_FILEID};

constexpr std::uint32_t kMaxLinks = 65000;  // of ext4; others allow more
constexpr std::uint64_t kMaxFileSize = std::numeric_limits<std::int64_t>::max();

nfstime4 time_of(const statx_timestamp& time) { return {time.tv_sec, time.tv_nsec}; }

Owner owner_of(std::uint32_t id) {
  Owner owner;
  owner.id = id;
  return owner;
}

}  // namespace

bitmap4 exclusive_create_attributes(const ServiceConfig& config) {
  constexpr bitmap4 kTimes{FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET};
  return config.verifier_in_times ? kSettable - kTimes : kSettable;
}

namespace {

void describe_server(const ServiceConfig& config, Attributes& out) {
  out.supported_attrs = kSupported;
  out.suppattr_exclcreat = exclusive_create_attributes(config);
  out.fh_expire_type = FH4_PERSISTENT;
  out.link_support = true;
  out.symlink_support = true;
  out.unique_handles = true;
  out.lease_time = config.lease_seconds;
  out.cansettime = true;
  out.case_preserving = true;
  out.chown_restricted = true;
  out.homogeneous = true;
  out.maxfilesize = kMaxFileSize;
  out.maxlink = kMaxLinks;
  out.maxname = kMaxName;
  out.maxread = config.max_transfer;
  out.maxwrite = config.max_transfer;
  out.no_trunc = true;
  out.time_delta = {0, 1};
}

void describe_inode(const FileStat& stat, Attributes& out) {
  const auto& x = stat.x;
  out.type = type_of_format(stat.format());
  out.size = x.stx_size;
  out.fsid = {stat.device(), 0};
  out.fileid = x.stx_ino;
  out.mounted_on_fileid = x.stx_ino;
  out.mode = x.stx_mode & ~std::uint32_t{S_IFMT};
  out.numlinks = x.stx_nlink;
  out.owner = owner_of(x.stx_uid);
  out.owner_group = owner_of(x.stx_gid);
  out.rawdev = {x.stx_rdev_major, x.stx_rdev_minor};
  out.space_used = x.stx_blocks * kStatBlock;
  out.time_access = time_of(x.stx_atime);
  out.time_create = time_of((x.stx_mask & STATX_BTIME) != 0 ? x.stx_btime : x.stx_ctime);
  out.time_metadata = time_of(x.stx_ctime);
  out.time_modify = time_of(x.stx_mtime);
}

}  // namespace

const bitmap4& supported_attributes() { return kSupported; }
const bitmap4& settable_attributes() { return kSettable; }
const bitmap4& write_only_attributes() { return kWriteOnly; }

nfs_ftype4 type_of_format(std::uint32_t format) {
  switch (format) {
    case S_IFDIR: return NF4DIR;
    case S_IFLNK: return NF4LNK;
    case S_IFBLK: return NF4BLK;
    case S_IFCHR: return NF4CHR;
    case S_IFIFO: return NF4FIFO;
    case S_IFSOCK: return NF4SOCK;
    default: return NF4REG;
  }
}

nfsstat4 AttributeReader::read(const bitmap4& wanted, const FileRef& file, const FileStat& stat,
                               Attributes& out) const {
  read_entry(wanted, stat, file->handle(), out);
  if ((wanted & kOfFileSystem).empty()) return NFS4_OK;
  return read_file_system(file, out);
}

void AttributeReader::read_entry(const bitmap4& wanted, const FileStat& stat, const nfs_fh4& handle,
                                 Attributes& out) const {
  out.present = (wanted & kSupported) - kWriteOnly;
  describe_server(config_, out);
  describe_inode(stat, out);
  out.change = changes_.value(stat);
  out.filehandle = handle;
}

nfsstat4 AttributeReader::read_file_system(const FileRef& file, Attributes& out) const {
  const auto fd = files_.path_fd(file);
  if (!fd) return fd.error();
  struct statvfs facts;
  if (::fstatvfs(*fd, &facts) != 0) return status_of_errno(errno);
  out.files_avail = facts.f_favail;
  out.files_free = facts.f_ffree;
  out.files_total = facts.f_files;
  out.space_avail = facts.f_bavail * facts.f_frsize;
  out.space_free = facts.f_bfree * facts.f_frsize;
  out.space_total = facts.f_blocks * facts.f_frsize;
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
