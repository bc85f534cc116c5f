#include "client/files/setattr.h"

#include <utility>

#include "client/files/files.h"
#include "client/requests/setattr.h"

namespace nfsrdma::client {
namespace {

/// A change ends a read delegation (RFC 8881 section 10.4.2); under a write delegation it may
/// change which users may open the file.
Task<void> prepare(Files& files, FileHandle file, SetAttributes change) {
  if (!files.delegation_table.any()) co_return;
  if (change.mode || change.uid || change.gid) files.delegation_table.forget_authorized(file);
  co_await files.delegations.give_back_for_change(file);
}

}  // namespace

Task<Result<Changed>> setattr(Files& files, Credential caller, FileHandle file, StateRef state,
                              SetAttributes change) {
  co_await prepare(files, file, change);
  if (!state && change.size) state = files.delegation_table.held(file);
  files.delegation_table.note_size(file, change.size);
  auto changed = co_await send_setattr(files.context, caller, file, std::move(state), change);
  if (changed) files.delegation_table.note_size(file, change.size);
  co_return changed;
}

}  // namespace nfsrdma::client
