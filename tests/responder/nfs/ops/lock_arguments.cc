#include "tests/responder/nfs/ops/lock_arguments.h"

namespace nfsrdma::responder {

using namespace nfs4;

Outcome<ByteRange> byte_range(offset4 offset, length4 length) {
  if (length == 0) return refuse(NFS4ERR_INVAL);
  if (length == kToEndOfFile) return ByteRange{offset, UINT64_MAX};
  if (length - 1 > UINT64_MAX - offset) return refuse(NFS4ERR_INVAL);
  return ByteRange{offset, offset + (length - 1)};
}

bool is_exclusive(nfs_lock_type4 type) { return type == WRITE_LT || type == WRITEW_LT; }

std::string_view owner_text(const lock_owner4& owner) {
  return {reinterpret_cast<const char*>(owner.owner.data()), owner.owner.size()};
}

LOCK4denied describe_conflict(const LockedRange& held) {
  LOCK4denied denied;
  denied.offset = held.range.first;
  const bool open_ended = held.range.last == UINT64_MAX;
  denied.length = open_ended ? kToEndOfFile : held.range.last - held.range.first + 1;
  denied.locktype = held.exclusive ? WRITE_LT : READ_LT;
  denied.owner.clientid = held.holder->client.id;
  denied.owner.owner = std::as_bytes(std::span(held.holder->owner));
  return denied;
}

}  // namespace nfsrdma::responder
