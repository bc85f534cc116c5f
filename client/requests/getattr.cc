#include "client/requests/getattr.h"

#include "client/mount.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/steps.h"
#include "client/session/session.h"

namespace nfsrdma::client {

Task<Result<Attributes>> getattr(Mount& mount, Credential caller, FileHandle file) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  steps::add_attributes(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  auto passed = steps::pass<nfs4::PUTFH4res>(results);
  CO_TRY(passed);
  OwnerNames names;
  auto attributes = steps::read_last_attributes(mount, results, names);
  compound.reset();
  if (attributes && names.pending()) co_await names.resolve(*attributes);
  co_return attributes;
}

}  // namespace nfsrdma::client
