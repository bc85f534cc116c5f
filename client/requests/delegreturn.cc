#include "client/requests/delegreturn.h"

#include "client/proto/ops_lock.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// `state`: fills in the stateid late; null: `stateid` is the one.
Task<Result<void>> send(RequestContext& context, Credential caller, FileHandle file, StateRef state,
                        nfs4::stateid4 stateid, Duration patience) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->use_state(std::move(state));
  compound->add(nfs4::DELEGRETURN4args{stateid});
  auto answered = co_await context.session.execute(*compound, patience);
  CO_TRY(answered);
  co_return steps::pass<nfs4::PUTFH4res, nfs4::DELEGRETURN4res>(compound->results());
}

}  // namespace

Task<Result<void>> delegreturn(RequestContext& context, Credential caller, FileHandle file,
                               StateRef delegation) {
  const nfs4::stateid4 stateid = delegation->stateid();
  return send(context, caller, file, std::move(delegation), stateid, context.lease_time());
}

Task<Result<void>> delegreturn(RequestContext& context, Credential caller, FileHandle file,
                               nfs4::stateid4 delegation) {
  return send(context, caller, file, {}, delegation, context.lease_time());
}

// A file that is being closed lets no OPEN pass: the state is not recovered here, and DELAY not
// waited for.
Task<Result<Narrowed>> delegreturn_and_close(RequestContext& context, Credential caller,
                                             FileHandle file, nfs4::stateid4 delegation,
                                             nfs4::stateid4 open) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::DELEGRETURN4args{delegation});
  add_close(*compound, open);
  auto answered = co_await context.session.execute(*compound, Duration::zero());
  CO_TRY(answered);
  auto returned = steps::pass<nfs4::PUTFH4res, nfs4::DELEGRETURN4res>(compound->results());
  CO_TRY(returned);
  co_return read_closed(*compound);
}

Task<void> delegreturn_quietly(RequestContext& context, Credential caller, FileHandle file,
                               nfs4::stateid4 delegation) {
  auto returned = co_await send(context, caller, file, {}, delegation, Duration::max());
  if (returned || returned.error().layer != Layer::nfs) co_return;
  log::warning("a delegation could not be returned: {}", returned.error().message());
}

}  // namespace nfsrdma::client
