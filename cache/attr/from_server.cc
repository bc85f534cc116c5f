#include "cache/attr/from_server.h"

#include <sys/stat.h>

namespace nfsrdma::cache {
namespace {

constexpr std::uint32_t kPermissionBits = 07777;

FileTime to_time(const nfs4::nfstime4& time) { return {time.seconds, time.nseconds}; }

std::uint32_t to_id(const nfs4::Owner& owner) { return owner.numeric ? owner.id : kNobody; }

void apply_identity(const client::Attributes& fresh, FileAttributes& known) {
  if (fresh.has(nfs4::FATTR4_TYPE)) {
    known.mode = type_bits(fresh.type) | (known.mode & kPermissionBits);
  }
  if (fresh.has(nfs4::FATTR4_FSID)) known.fsid = {fresh.fsid.major, fresh.fsid.minor};
  if (fresh.has(nfs4::FATTR4_FILEID)) known.fileid = fresh.fileid;
  if (fresh.has(nfs4::FATTR4_RAWDEV)) {
    known.device_major = fresh.rawdev.specdata1;
    known.device_minor = fresh.rawdev.specdata2;
  }
}

void apply_permissions(const client::Attributes& fresh, FileAttributes& known) {
  if (fresh.has(nfs4::FATTR4_MODE)) {
    known.mode = (known.mode & ~kPermissionBits) | (fresh.mode & kPermissionBits);
  }
  if (fresh.has(nfs4::FATTR4_NUMLINKS)) known.links = fresh.numlinks;
  if (fresh.has(nfs4::FATTR4_OWNER)) known.uid = to_id(fresh.owner);
  if (fresh.has(nfs4::FATTR4_OWNER_GROUP)) known.gid = to_id(fresh.owner_group);
}

}  // namespace

std::uint32_t type_bits(nfs4::nfs_ftype4 type) {
  switch (type) {
    case nfs4::NF4REG:
    case nfs4::NF4NAMEDATTR: return S_IFREG;
    case nfs4::NF4DIR:
    case nfs4::NF4ATTRDIR: return S_IFDIR;
    case nfs4::NF4BLK: return S_IFBLK;
    case nfs4::NF4CHR: return S_IFCHR;
    case nfs4::NF4LNK: return S_IFLNK;
    case nfs4::NF4SOCK: return S_IFSOCK;
    case nfs4::NF4FIFO: return S_IFIFO;
  }
  return 0;
}

void apply(const client::Attributes& fresh, FileAttributes& known) {
  apply_identity(fresh, known);
  apply_permissions(fresh, known);
  if (fresh.has(nfs4::FATTR4_CHANGE)) known.change = fresh.change;
  if (fresh.has(nfs4::FATTR4_SIZE)) known.size = fresh.size;
  if (fresh.has(nfs4::FATTR4_SPACE_USED)) known.space_used = fresh.space_used;
  if (fresh.has(nfs4::FATTR4_TIME_ACCESS)) known.access_time = to_time(fresh.time_access);
  if (fresh.has(nfs4::FATTR4_TIME_MODIFY)) known.modify_time = to_time(fresh.time_modify);
  if (fresh.has(nfs4::FATTR4_TIME_METADATA)) known.change_time = to_time(fresh.time_metadata);
}

bool describes_file(const client::Attributes& attributes) {
  return attributes.has(nfs4::FATTR4_TYPE) && attributes.has(nfs4::FATTR4_FILEID) &&
         attributes.has(nfs4::FATTR4_CHANGE);
}

bool owners_known(const client::Attributes& attributes) {
  const bool user = !attributes.has(nfs4::FATTR4_OWNER) || attributes.owner.numeric;
  const bool group = !attributes.has(nfs4::FATTR4_OWNER_GROUP) || attributes.owner_group.numeric;
  return user && group;
}

}  // namespace nfsrdma::cache
