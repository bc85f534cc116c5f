#include "client/requests/lookup.h"

#include <utility>

#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

/// Adds GETFH and GETATTR of the file found, behind `Before`, and sends the request.
template <class... Before>
Task<Result<Found>> find(RequestContext& context, CompoundRef compound) {
  steps::add_found(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto passed = steps::pass<Before...>(compound->results());
  CO_TRY(passed);
  OwnerNames names;
  auto found = steps::read_found(context, compound->results(), names);
  compound.reset();
  if (found && names.pending()) co_await names.resolve(found->attributes);
  co_return found;
}

}  // namespace

Task<Result<Found>> lookup(RequestContext& context, Credential caller, FileHandle dir,
                           std::string_view name) {
  const steps::Name copy(name);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(nfs4::LOOKUP4args{copy.view()});
  auto found = co_await find<nfs4::PUTFH4res, nfs4::LOOKUP4res>(context, std::move(compound));
  co_return found;
}

Task<Result<Found>> lookup_root(RequestContext& context, Credential caller) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  compound->add(nfs4::PUTROOTFH4args{});
  auto found = co_await find<nfs4::PUTROOTFH4res>(context, std::move(compound));
  co_return found;
}

}  // namespace nfsrdma::client
