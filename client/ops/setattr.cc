#include "client/ops/setattr.h"

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/steps.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_namespace.h"
#include "client/session/session.h"
#include "client/state/delegation_table.h"

namespace nfsrdma::client {

namespace {

/// A delegation that only lets read does not stand a change (RFC 8881 section 10.4.2); under one
/// that lets write, who may open the file may be others afterwards.
Task<void> prepare(Mount& mount, FileHandle file, SetAttributes change) {
  if (!mount.delegations().any()) co_return;
  if (change.mode || change.uid || change.gid) mount.delegations().forget_admitted(file);
  co_await mount.delegations().give_back_for_change(file);
}

}  // namespace

Task<Result<Changed>> setattr(Mount& mount, Caller caller, FileHandle file, StateRef state,
                              SetAttributes change) {
  co_await prepare(mount, file, change);
  if (!state && change.size) state = mount.delegations().held(file);
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  steps::add_change_before(*compound);
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
  auto found = steps::pass<nfs4::PUTFH4res>(results);
  CO_TRY(found);
  auto change_before = steps::read_change_before(results);
  CO_TRY(change_before);
  auto passed = steps::pass<nfs4::SETATTR4res>(results);
  CO_TRY(passed);
  auto attributes = steps::read_last_attributes(mount, results);
  // Fetched later, they may be of a version that somebody else has made.
  if (!attributes) change_before->reset();
  compound.reset();
  auto complete = co_await steps::or_fetch(mount, caller, file, std::move(attributes));
  CO_TRY(complete);
  co_return Changed{std::move(*complete), *change_before};
}

}  // namespace nfsrdma::client
