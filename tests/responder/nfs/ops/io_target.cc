#include "tests/responder/nfs/ops/io_target.h"

#include <fcntl.h>

#include <utility>

#include "tests/proto/operations.h"
#include "tests/responder/nfs/delegations.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 not_a_regular_file(const File& file) {
  switch (file.format()) {
    case S_IFREG: return NFS4_OK;
    case S_IFDIR: return NFS4ERR_ISDIR;
    case S_IFLNK: return NFS4ERR_SYMLINK;
    default: return NFS4ERR_WRONG_TYPE;
  }
}

namespace {

// Reads that bypass locks pass by share reservations, too; for writing that stateid is as good as
// the anonymous one.
nfsstat4 check_special(CompoundContext& context, const stateid4& stateid, std::uint32_t access) {
  if (stateid != kAnonymousStateid && stateid != kReadBypassStateid) return NFS4ERR_BAD_STATEID;
  if (context.server.in_grace()) return NFS4ERR_GRACE;
  if (stateid == kReadBypassStateid && access == OPEN4_SHARE_ACCESS_READ) return NFS4_OK;
  const Share share{access, OPEN4_SHARE_DENY_NONE};
  const bool denied =
      context.states().conflicting_open(*context.current, share, nullptr) != nullptr;
  if (denied) return NFS4ERR_LOCKED;
  return recall_from_others(context, *context.current, access);
}

nfsstat4 open_for(CompoundContext& context, DelegationState& delegation) {
  if (delegation.descriptor) return NFS4_OK;
  const int flags = delegation.writes ? O_RDWR : O_RDONLY;
  auto fd = context.files().reopen_unchecked(delegation.file, flags);
  if (!fd) return fd.error();
  delegation.descriptor = std::move(*fd);
  return NFS4_OK;
}

}  // namespace

Outcome<State*> open_for_io(CompoundContext& context, const stateid4& stateid,
                            std::uint32_t access) {
  const stateid4 effective = context.effective(stateid);
  if (is_special(effective)) {
    const nfsstat4 status = check_special(context, effective, access);
    if (status != NFS4_OK) return refuse(status);
    return nullptr;
  }
  const auto state = context.states().find(*context.client, effective);
  if (!state) return refuse(state.error());
  if ((*state)->file != context.current) return refuse(NFS4ERR_BAD_STATEID);
  if (((*state)->access() & access) != access) return refuse(NFS4ERR_OPENMODE);
  if ((*state)->kind() == StateKind::delegation) {
    const nfsstat4 status = open_for(context, static_cast<DelegationState&>(**state));
    if (status != NFS4_OK) return refuse(status);
  }
  return *state;
}

nfsstat4 check_locks(CompoundContext& context, const State* state, std::uint64_t offset,
                     std::uint64_t count, bool writes) {
  if (!context.server.config.mandatory_locks) return NFS4_OK;
  if (state && state->kind() == StateKind::delegation) return NFS4_OK;
  const LockRanges* locks = context.states().locks_on(*context.current);
  if (!locks) return NFS4_OK;
  const bool to_end = count == 0 || count - 1 > UINT64_MAX - offset;
  const ByteRange range{offset, to_end ? UINT64_MAX : offset + (count - 1)};
  const bool by_lock = state && state->kind() == StateKind::lock;
  const auto* holder = by_lock ? static_cast<const LockState*>(state) : nullptr;
  return locks->conflict(range, writes, holder) ? NFS4ERR_LOCKED : NFS4_OK;
}

Outcome<UniqueFd> open_without_state(CompoundContext& context, std::uint32_t access) {
  const int flags = access == OPEN4_SHARE_ACCESS_READ ? O_RDONLY : O_WRONLY;
  return context.files().reopen(context.who, context.current, flags);
}

}  // namespace nfsrdma::responder
