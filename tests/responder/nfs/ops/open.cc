// RFC 8881 section 18.16.
#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/open_target.h"
#include "tests/responder/nfs/ops/ops.h"
#include "tests/responder/nfs/state/open_file.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::uint32_t kWantSignals = OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL |
                                       OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED;
constexpr std::uint32_t kAccessBits =
    OPEN4_SHARE_ACCESS_BOTH | OPEN4_SHARE_ACCESS_WANT_DELEG_MASK | kWantSignals;

nfsstat4 check_arguments(const OPEN4args& args) {
  if ((args.share_access & ~kAccessBits) != 0) return NFS4ERR_INVAL;
  if ((args.share_access & OPEN4_SHARE_ACCESS_BOTH) == 0) return NFS4ERR_INVAL;
  if ((args.share_deny & ~OPEN4_SHARE_DENY_BOTH) != 0) return NFS4ERR_INVAL;
  const bool creates = args.openhow.opentype == OPEN4_CREATE;
  if (creates && args.claim.claim != CLAIM_NULL) return NFS4ERR_INVAL;
  return NFS4_OK;
}

// RFC 8881 sections 8.4.2.1 and 18.51.3: reclaims within the grace period, all else behind it and
// behind the client's RECLAIM_COMPLETE.
nfsstat4 check_open_grace(const CompoundContext& context, bool reclaim) {
  const bool in_grace = context.server.in_grace();
  const bool complete = context.client->reclaim_complete;
  if (!reclaim) return in_grace || !complete ? NFS4ERR_GRACE : NFS4_OK;
  if (!in_grace || complete) return NFS4ERR_NO_GRACE;
  const bool known = context.server.instance.may_reclaim(context.client->owner);
  return known ? NFS4_OK : NFS4ERR_RECLAIM_BAD;
}

nfsstat4 check_read_only(const CompoundContext& context, const OPEN4args& args) {
  if (!context.server.config.read_only) return NFS4_OK;
  const bool writes =
      (args.share_access & OPEN4_SHARE_ACCESS_WRITE) != 0 || args.openhow.opentype == OPEN4_CREATE;
  return writes ? NFS4ERR_ROFS : NFS4_OK;
}

Outcome<OpenTarget> target_by_name(CompoundContext& context, const OPEN4args& args) {
  const bool delegated = args.claim.claim == CLAIM_DELEGATE_CUR;
  const Component name(delegated ? args.claim.delegate_cur_info.file : args.claim.file);
  if (name.status() != NFS4_OK) return refuse(name.status());
  const nfsstat4 wrong = not_a_directory(*context.current);
  if (wrong != NFS4_OK) return refuse(wrong);
  if (args.openhow.opentype == OPEN4_NOCREATE) return find_target(context, name);
  const std::uint32_t access = args.share_access & OPEN4_SHARE_ACCESS_BOTH;
  return create_target(context, name, args.openhow.how, access);
}

Outcome<OpenTarget> find_by_handle(CompoundContext& context, const OPEN4args& args) {
  switch (args.claim.claim) {
    case CLAIM_FH:
    case CLAIM_DELEG_CUR_FH:
    case CLAIM_PREVIOUS: {
      const auto stat = context.current_stat();
      if (!stat) return refuse(stat.error());
      OpenTarget target;
      target.found = {context.current, *stat};
      return target;
    }
    default: return refuse(NFS4ERR_NOTSUPP);  // delegations do not outlive their client
  }
}

// The holder of a delegation has granted this open: only the delegation is checked.
nfsstat4 check_delegation(CompoundContext& context, const OPEN4args& args, const FileRef& file) {
  const open_claim4& claim = args.claim;
  const bool by_name = claim.claim == CLAIM_DELEGATE_CUR;
  if (!by_name && claim.claim != CLAIM_DELEG_CUR_FH) return NFS4_OK;
  const stateid4 stateid = context.effective(by_name ? claim.delegate_cur_info.delegate_stateid
                                                     : claim.oc_delegate_stateid);
  if (is_special(stateid)) return NFS4ERR_BAD_STATEID;
  const auto delegation = context.states().find_delegation(*context.client, stateid);
  if (!delegation) return delegation.error();
  if ((*delegation)->revoked) return NFS4ERR_DELEG_REVOKED;
  const std::uint32_t access = args.share_access & OPEN4_SHARE_ACCESS_BOTH;
  const bool covered = (access & ~(*delegation)->access()) == 0;
  return (*delegation)->file == file && covered ? NFS4_OK : NFS4ERR_BAD_STATEID;
}

bool is_by_name(open_claim_type4 claim) {
  return claim == CLAIM_NULL || claim == CLAIM_DELEGATE_CUR;
}

bool reclaims(open_claim_type4 claim) {
  return claim == CLAIM_PREVIOUS || claim == CLAIM_DELEGATE_CUR || claim == CLAIM_DELEG_CUR_FH;
}

void describe_open(CompoundContext& context, const OPEN4args& args, const OpenState& open,
                   OPEN4resok& ok) {
  ok.stateid = context.states().stateid_of(open);
  ok.rflags = OPEN4_RESULT_LOCKTYPE_POSIX;
  if (context.server.faults.keeps_unlinked) ok.rflags |= OPEN4_RESULT_PRESERVE_UNLINKED;
  ok.delegation = context.server.clients->delegations.grant(context, args, open.file);
  context.set_current(open.file);
  context.set_current_stateid(open);
}

nfsstat4 open_target(CompoundContext& context, const OPEN4args& args, OpenTarget target,
                     OPEN4resok& ok) {
  const FileRef file = target.found.file;
  const nfsstat4 wrong = not_a_regular_file(*file);
  if (wrong != NFS4_OK) return wrong;
  nfsstat4 status = check_delegation(context, args, file);
  if (status == NFS4_OK) {
    const std::uint32_t access = args.share_access & OPEN4_SHARE_ACCESS_BOTH;
    const std::uint32_t changes = target.truncate ? OPEN4_SHARE_ACCESS_WRITE : 0;
    status = recall_from_others(context, *file, access | changes);
  }
  if (status != NFS4_OK) return status;
  const std::string_view owner(reinterpret_cast<const char*>(args.owner.owner.data()),
                               args.owner.owner.size());
  OpenRequest request{*context.client, context.who, owner, file};
  request.share = {args.share_access & OPEN4_SHARE_ACCESS_BOTH, args.share_deny};
  request.truncate = target.truncate;
  request.owner_may_override = target.retried || reclaims(args.claim.claim);
  const auto open = grant_open(context.states(), context.files(), request, std::move(target.made));
  if (!open) return open.error();
  ok.attrset = target.attrset;
  if (target.truncate) {
    ok.attrset.set(FATTR4_SIZE);
    context.server.unstable.resized(*file, 0);
    context.changed(file);
  }
  describe_open(context, args, **open, ok);
  return NFS4_OK;
}

}  // namespace

nfsstat4 op_open(CompoundContext& context, const OPEN4args& args, OPEN4res& result) {
  nfsstat4 status = check_arguments(args);
  if (status == NFS4_OK) status = check_open_grace(context, args.claim.claim == CLAIM_PREVIOUS);
  if (status == NFS4_OK) status = check_read_only(context, args);
  if (status == NFS4_OK && !reclaims(args.claim.claim)) {
    status = context.files().check_descriptors(context.states().opens());
  }
  if (status != NFS4_OK) return status;
  if (!is_by_name(args.claim.claim)) {
    auto target = find_by_handle(context, args);
    return target ? open_target(context, args, std::move(*target), result.resok4) : target.error();
  }
  DirectoryChange change(context, context.current);
  auto target = target_by_name(context, args);
  if (!target) return target.error();
  result.resok4.cinfo = target->made ? change.finish() : change.unchanged();
  return open_target(context, args, std::move(*target), result.resok4);
}

}  // namespace nfsrdma::responder
