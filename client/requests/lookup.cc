#include "client/requests/lookup.h"

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/steps.h"
#include "client/session/session.h"

namespace nfsrdma::client {
namespace {

Result<Found> read_lookup(Mount& mount, CompoundReader& results, OwnerNames& names) {
  TRY((steps::pass<nfs4::PUTFH4res, nfs4::LOOKUP4res>(results)));
  return steps::read_found(mount, results, names);
}

Result<Found> read_lookup_parent(Mount& mount, CompoundReader& results, OwnerNames& names) {
  TRY((steps::pass<nfs4::PUTFH4res, nfs4::LOOKUPP4res>(results)));
  return steps::read_found(mount, results, names);
}

}  // namespace

Task<Result<Found>> lookup(Mount& mount, Credential caller, FileHandle dir, std::string_view name) {
  const steps::Name kept(name);
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(nfs4::LOOKUP4args{kept.view()}, result_size::kNothing);
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  OwnerNames names;
  auto found = read_lookup(mount, compound->results(), names);
  compound.reset();
  if (found && names.pending()) co_await names.resolve(found->attributes);
  co_return found;
}

Task<Result<Found>> lookup_parent(Mount& mount, Credential caller, FileHandle dir) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(nfs4::LOOKUPP4args{}, result_size::kNothing);
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  OwnerNames names;
  auto found = read_lookup_parent(mount, compound->results(), names);
  compound.reset();
  if (found && names.pending()) co_await names.resolve(found->attributes);
  co_return found;
}

}  // namespace nfsrdma::client
