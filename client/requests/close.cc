#include "client/requests/close.h"

#include "client/compound/result_sizes.h"
#include "client/proto/ops_open.h"
#include "client/requests/done_before.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Narrowed> send_close(RequestContext& context, Credential caller, FileHandle file,
                          nfs4::stateid4 open) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return Narrowed{fail(steps::ending())};
  steps::add_handle(*compound, file);
  nfs4::CLOSE4args args;
  args.open_stateid = open;
  compound->add_modifying(args, result_size::kStateid);
  auto answered = co_await context.session.execute(*compound);
  if (!answered) co_return Narrowed{fail_from(answered)};
  auto passed = steps::pass<nfs4::PUTFH4res, nfs4::CLOSE4res>(compound->results());
  if (passed) co_return Narrowed{nfs4::stateid4{}};
  const bool outdated = may_be_done(*compound, passed.error(), nfs4::NFS4ERR_OLD_STATEID);
  co_return Narrowed{fail_from(passed), outdated};
}

}  // namespace nfsrdma::client
