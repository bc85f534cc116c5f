#include "tests/responder/nfs/fs/attribute_setter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "tests/responder/nfs/fs/attributes.h"
#include "tests/responder/nfs/fs/proc_path.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::uint32_t kNanoseconds = 1'000'000'000;
constexpr mode4 kModeBits = 07777;

nfsstat4 check_values(const Attributes& change) {
  const auto bad_time = [](const settime4& time) { return time.time.nseconds >= kNanoseconds; };
  if (change.has(FATTR4_TIME_ACCESS_SET) && bad_time(change.time_access_set)) return NFS4ERR_INVAL;
  if (change.has(FATTR4_TIME_MODIFY_SET) && bad_time(change.time_modify_set)) return NFS4ERR_INVAL;
  if (change.has(FATTR4_OWNER) && !change.owner.numeric) return NFS4ERR_BADOWNER;
  if (change.has(FATTR4_OWNER_GROUP) && !change.owner_group.numeric) return NFS4ERR_BADOWNER;
  if (change.has(FATTR4_MODE) && (change.mode & ~kModeBits) != 0) return NFS4ERR_INVAL;
  if (change.has(FATTR4_MODE) && change.has(FATTR4_MODE_SET_MASKED)) return NFS4ERR_INVAL;
  return NFS4_OK;
}

nfsstat4 status_of_call(int result) { return result == 0 ? NFS4_OK : status_of_errno(errno); }

nfsstat4 set_size(int path_fd, int size_fd, std::uint64_t size) {
  if (size > std::uint64_t{std::numeric_limits<off_t>::max()}) return NFS4ERR_FBIG;
  const auto length = static_cast<off_t>(size);
  if (size_fd >= 0) return status_of_call(::ftruncate(size_fd, length));
  return status_of_call(::truncate(ProcPath(path_fd).c_str(), length));
}

nfsstat4 set_owner(int path_fd, const Attributes& change) {
  constexpr std::uint32_t kUnchanged = UINT32_MAX;
  const uid_t uid = change.has(FATTR4_OWNER) ? change.owner.id : kUnchanged;
  const gid_t gid = change.has(FATTR4_OWNER_GROUP) ? change.owner_group.id : kUnchanged;
  return status_of_call(::fchownat(path_fd, "", uid, gid, AT_EMPTY_PATH));
}

nfsstat4 set_mode(int path_fd, const Attributes& change) {
  mode4 mode = change.mode;
  if (change.has(FATTR4_MODE_SET_MASKED)) {
    const auto stat = stat_fd(path_fd);
    if (!stat) return stat.error();
    const mode_masked4& masked = change.mode_set_masked;
    mode = (stat->x.stx_mode & kModeBits & ~masked.mm_mask_bits) |
           (masked.mm_value_to_set & masked.mm_mask_bits & kModeBits);
  }
  return status_of_call(::chmod(ProcPath(path_fd).c_str(), mode));
}

timespec time_spec(bool present, const settime4& time) {
  if (!present) return {0, UTIME_OMIT};
  if (time.set_it == SET_TO_SERVER_TIME4) return {0, UTIME_NOW};
  return {time.time.seconds, time.time.nseconds};
}

nfsstat4 set_times(int path_fd, const Attributes& change) {
  const timespec times[] = {time_spec(change.has(FATTR4_TIME_ACCESS_SET), change.time_access_set),
                            time_spec(change.has(FATTR4_TIME_MODIFY_SET), change.time_modify_set)};
  return status_of_call(::utimensat(path_fd, "", times, AT_EMPTY_PATH));
}

}  // namespace

Outcome<Attributes> decode_settable(const fattr4& values) {
  if (!(values.attrmask - supported_attributes()).empty()) return refuse(NFS4ERR_ATTRNOTSUPP);
  if (!(values.attrmask - settable_attributes()).empty()) return refuse(NFS4ERR_INVAL);
  auto decoded = decode_attributes(values);
  if (!decoded) return refuse(NFS4ERR_BADXDR);
  const nfsstat4 status = check_values(*decoded);
  if (status != NFS4_OK) return refuse(status);
  return *decoded;
}

nfsstat4 apply_attributes(FileTable& files, const Identity& who, const FileRef& file,
                          const Attributes& change, int size_fd, bitmap4& set) {
  const auto fd = files.path_fd(file);
  if (!fd) return fd.error();
  const ActAs act(who);
  nfsstat4 status = NFS4_OK;
  const auto step = [&](const bitmap4& attributes, auto&& apply) {
    const bitmap4 asked = change.present & attributes;
    if (status != NFS4_OK || asked.empty()) return;
    status = apply();
    if (status == NFS4_OK) set = set | asked;
  };
  step({FATTR4_SIZE}, [&] { return set_size(*fd, size_fd, change.size); });
  step({FATTR4_OWNER, FATTR4_OWNER_GROUP}, [&] { return set_owner(*fd, change); });
  step({FATTR4_MODE, FATTR4_MODE_SET_MASKED}, [&] {
    // Linux has none to change, and servers say that it is done.
    if (file->format() == S_IFLNK) return NFS4_OK;
    file->has_set_id_bits = true;  // perhaps; only costs time
    return set_mode(*fd, change);
  });
  step({FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET}, [&] { return set_times(*fd, change); });
  return status;
}

}  // namespace nfsrdma::responder
