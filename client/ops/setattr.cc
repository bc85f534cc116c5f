#include "client/ops/setattr.h"

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/steps.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_namespace.h"
#include "client/session/session.h"

namespace nfsrdma::client {

Task<Result<Attributes>> setattr(Mount& mount, Caller caller, FileHandle file, StateRef state,
                                 SetAttributes change) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  {
    const Attributes attributes = steps::settable(change);
    const steps::EncodedAttributes encoded(attributes, attributes.present);
    compound->use_state(std::move(state));
    compound->add_modifying(nfs4::SETATTR4args{nfs4::kAnonymousStateid, encoded.view()},
                            result_size::kBitmap);
  }
  steps::add_attributes(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  auto passed = steps::pass<nfs4::PUTFH4res, nfs4::SETATTR4res>(results);
  CO_TRY(passed);
  auto attributes = steps::read_last_attributes(mount, results);
  compound.reset();
  auto complete = co_await steps::or_fetch(mount, caller, file, std::move(attributes));
  co_return complete;
}

}  // namespace nfsrdma::client
