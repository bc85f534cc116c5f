#include "client/requests/remove.h"

#include "client/requests/done_before.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
Task<Result<NameChange>> remove(RequestContext& context, Credential caller, FileHandle dir,
                                std::string_view name, WithoutCaller without_caller) {
  const steps::Name copy(name);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->set_ends_with_caller(without_caller);
  compound->add(nfs4::REMOVE4args{copy.view()});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto removed = steps::read_only<nfs4::REMOVE4res>(compound->results());
  if (!removed && may_be_done(*compound, removed.error(), nfs4::NFS4ERR_NOENT)) {
    co_return NameChange();
  }
  CO_TRY(removed);
  co_return removed->resok4.cinfo;
}

}  // namespace nfsrdma::client
