#include "client/ops/lookup.h"

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/steps.h"
#include "client/proto/ops_namespace.h"
#include "client/session/session.h"

namespace nfsrdma::client {
namespace {

Result<Found> read_lookup(Mount& mount, CompoundReader& results) {
  TRY((steps::pass<nfs4::PUTFH4res, nfs4::LOOKUP4res>(results)));
  return steps::read_found(mount, results);
}

Result<Found> read_lookup_parent(Mount& mount, CompoundReader& results) {
  TRY((steps::pass<nfs4::PUTFH4res, nfs4::LOOKUPP4res>(results)));
  return steps::read_found(mount, results);
}

}  // namespace

Task<Result<Found>> lookup(Mount& mount, Caller caller, FileHandle dir, std::string_view name) {
  const steps::Name kept(name);
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(nfs4::LOOKUP4args{kept.view()}, result_size::kNothing);
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return read_lookup(mount, compound->results());
}

Task<Result<Found>> lookup_parent(Mount& mount, Caller caller, FileHandle dir) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(nfs4::LOOKUPP4args{}, result_size::kNothing);
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return read_lookup_parent(mount, compound->results());
}

}  // namespace nfsrdma::client
