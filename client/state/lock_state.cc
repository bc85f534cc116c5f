#include "client/state/lock_state.h"

#include <algorithm>

#include "client/state/open_file.h"

namespace nfsrdma::client {

nfs4::stateid4 LockState::stateid() const {
  nfs4::stateid4 current = given;
  current.seqid = 0;
  return current;
}

bool LockState::lost() const { return file.lost() || !established; }

bool LockState::recovering() const {
  return refused != nfs4::NFS4_OK || file.server_open().recovering();
}

void LockState::on_refused(nfs4::nfsstat4 status) {
  if (established && refused == nfs4::NFS4_OK) refused = status;
}

bool LockState::take_away() {
  const bool held = !ranges.empty();
  for (const LockedRange& gone : ranges.all()) lost_ranges.set(gone.range, gone.exclusive);
  if (held) loss_reported = false;
  ranges = {};
  established = at_server = false;
  refused = nfs4::NFS4_OK;
  return held;
}

FileLocks::LockRef FileLocks::obtain(const LockOwner& owner) {
  if (LockRef known = find(owner)) return known;
  auto state = std::make_shared<LockState>(reactor_, file_, owner);
  states_.push_back(state);
  return state;
}

FileLocks::LockRef FileLocks::find(const LockOwner& owner) const {
  const auto place = std::find_if(states_.begin(), states_.end(),
                                  [&](const LockRef& state) { return state->owner == owner; });
  return place == states_.end() ? nullptr : *place;
}

void FileLocks::clear_local() {
  std::erase_if(states_, [](const LockRef& lock) { return !lock->at_server; });
}

void FileLocks::forget_stateids() {
  for (const LockRef& lock : states_) lock->established = false;
}

bool FileLocks::any_local() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const LockRef& lock) { return !lock->at_server && !lock->ranges.empty(); });
}

bool FileLocks::any_at_server() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const LockRef& lock) { return lock->at_server; });
}

void FileLocks::forget_if_unused(const LockRef& state) {
  constexpr long kHereAndAtTheCaller = 2;
  const bool used = state->established || !state->ranges.empty() || state->any_lost();
  if (used || state.use_count() > kHereAndAtTheCaller) return;
  std::erase(states_, LockRef(state));
}

}  // namespace nfsrdma::client
