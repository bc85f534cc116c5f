#include "client/files/setattr.h"

#include <utility>

#include "client/mount.h"
#include "client/requests/setattr.h"
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

Task<Result<Changed>> setattr(Mount& mount, Credential caller, FileHandle file, StateRef state,
                              SetAttributes change) {
  co_await prepare(mount, file, change);
  if (!state && change.size) state = mount.delegations().held(file);
  auto changed = co_await send_setattr(mount, caller, file, std::move(state), change);
  co_return changed;
}

}  // namespace nfsrdma::client
