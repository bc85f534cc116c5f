#include "client/requests/close.h"

#include "client/proto/ops_open.h"
#include "client/requests/done_before.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

void add_close(Compound& compound, const nfs4::stateid4& open) {
  nfs4::CLOSE4args args;
  args.open_stateid = open;
  compound.add(args);
}

Narrowed read_closed(Compound& compound) {
  auto passed = steps::pass<nfs4::CLOSE4res>(compound.results());
  if (passed) return {nfs4::stateid4{}};
  const bool outdated = may_be_done(compound, passed.error(), nfs4::NFS4ERR_OLD_STATEID);
  return {fail_from(passed), outdated};
}

Task<Narrowed> send_close(RequestContext& context, Credential caller, FileHandle file,
                          nfs4::stateid4 open, net::Pace pace) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return Narrowed{fail(steps::ending())};
  steps::add_handle(*compound, file);
  add_close(*compound, open);
  compound->call().pace = pace;
  auto answered = co_await context.session.execute(*compound);
  if (answered) answered = steps::pass<nfs4::PUTFH4res>(compound->results());
  if (!answered) co_return Narrowed{fail_from(answered)};
  co_return read_closed(*compound);
}

}  // namespace nfsrdma::client
