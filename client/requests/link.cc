#include "client/requests/link.h"

#include "client/requests/done_before.h"
#include "client/requests/lookup.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Result<Made>> link(RequestContext& context, Credential caller, FileHandle file, FileHandle dir,
                        std::string_view name) {
  const steps::Name copy(name);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::SAVEFH4args{});
  steps::add_handle(*compound, dir);
  compound->set_ends_with_caller();
  compound->add(nfs4::LINK4args{copy.view()});
  compound->add(nfs4::RESTOREFH4args{});
  steps::add_attributes(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  nfs4::LINK4res linked;
  auto passed = steps::pass<nfs4::PUTFH4res, nfs4::SAVEFH4res, nfs4::PUTFH4res>(results);
  if (passed) passed = results.read(linked);
  if (passed) passed = steps::pass<nfs4::RESTOREFH4res>(results);
  if (!passed && may_be_done(*compound, passed.error(), nfs4::NFS4ERR_EXIST)) {
    compound.reset();
    auto found = co_await lookup(context, caller, dir, copy.view());
    if (found && found->handle == file) co_return Made{*std::move(found), {}};
  }
  CO_TRY(passed);
  OwnerNames names;
  auto attributes = steps::read_last_attributes(context, results, names);
  compound.reset();
  auto complete =
      co_await steps::or_fetch(context, caller, file, std::move(attributes), std::move(names));
  CO_TRY(complete);
  co_return Made{{file, *complete}, linked.resok4.cinfo};
}

}  // namespace nfsrdma::client
