#include "client/requests/open_downgrade.h"

#include "client/proto/ops_open.h"
#include "client/requests/done_before.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
Task<Narrowed> open_downgrade(RequestContext& context, Credential caller, FileHandle file,
                              nfs4::stateid4 open, std::uint32_t share_access) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return Narrowed{fail(steps::ending())};
  steps::add_handle(*compound, file);
  nfs4::OPEN_DOWNGRADE4args args;
  args.open_stateid = open;
  args.share_access = share_access;
  args.share_deny = nfs4::OPEN4_SHARE_DENY_NONE;
  compound->add(args);
  auto answered = co_await context.session.execute(*compound);
  if (!answered) co_return Narrowed{fail_from(answered)};
  auto result = steps::read_only<nfs4::OPEN_DOWNGRADE4res>(compound->results());
  if (result) co_return Narrowed{result->resok4.open_stateid};
  const bool outdated = may_be_done(*compound, result.error(), nfs4::NFS4ERR_OLD_STATEID);
  co_return Narrowed{fail_from(result), outdated};
}

}  // namespace nfsrdma::client
