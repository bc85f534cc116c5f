#include "tests/responder/nfs/state/state_table.h"

#include <algorithm>
#include <cstring>

#include "client/proto/ops_open.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

struct StateidOther {
  std::uint32_t instance;
  std::uint32_t id_high;
  std::uint32_t id_low;
};
static_assert(sizeof(StateidOther) == NFS4_OTHER_SIZE);
constexpr int kWordBits = 32;

bool all_of(const stateid4& stateid, std::byte value) {
  return std::ranges::all_of(stateid.other, [&](std::byte byte) { return byte == value; });
}

}  // namespace

bool is_special(const stateid4& stateid) {
  return all_of(stateid, std::byte{0}) || all_of(stateid, std::byte{0xff});
}

stateid4 StateTable::stateid_of(const State& state) const {
  const StateidOther other{instance_, static_cast<std::uint32_t>(state.id >> kWordBits),
                           static_cast<std::uint32_t>(state.id)};
  stateid4 stateid;
  stateid.seqid = state.seqid;
  std::memcpy(stateid.other.data(), &other, sizeof other);
  return stateid;
}

std::uint32_t DelegationState::access() const {
  return writes ? OPEN4_SHARE_ACCESS_BOTH : OPEN4_SHARE_ACCESS_READ;
}

Outcome<State*> StateTable::find_known(const Client& client, const stateid4& stateid) const {
  StateidOther other;
  std::memcpy(&other, stateid.other.data(), sizeof other);
  if (other.instance != instance_) return refuse(NFS4ERR_STALE_STATEID);
  const auto found = states_.find(std::uint64_t{other.id_high} << kWordBits | other.id_low);
  if (found == states_.end() || &found->second->client != &client) {
    return refuse(NFS4ERR_BAD_STATEID);
  }
  State* state = found->second.get();
  if (stateid.seqid != 0 && stateid.seqid != state->seqid) {
    const auto ahead = static_cast<std::int32_t>(stateid.seqid - state->seqid);
    return refuse(ahead > 0 ? NFS4ERR_BAD_STATEID : NFS4ERR_OLD_STATEID);
  }
  return state;
}

Outcome<State*> StateTable::find(const Client& client, const stateid4& stateid) const {
  const auto state = find_known(client, stateid);
  const bool delegation = state && (*state)->kind() == StateKind::delegation;
  if (delegation && static_cast<DelegationState*>(*state)->revoked) {
    return refuse(NFS4ERR_DELEG_REVOKED);
  }
  if (state && find_revoked_lock(client, stateid)) return refuse(NFS4ERR_ADMIN_REVOKED);
  return state;
}

LockState* StateTable::find_revoked_lock(const Client& client, const stateid4& stateid) const {
  const auto state = find_known(client, stateid);
  if (!state || (*state)->kind() != StateKind::lock) return nullptr;
  LockState* lock = static_cast<LockState*>(*state);
  return lock->revoked ? lock : nullptr;
}

Outcome<OpenState*> StateTable::find_open(const Client& client, const stateid4& stateid) const {
  const auto state = find(client, stateid);
  if (!state) return refuse(state.error());
  if ((*state)->kind() != StateKind::open) return refuse(NFS4ERR_BAD_STATEID);
  return static_cast<OpenState*>(*state);
}

Outcome<LockState*> StateTable::find_lock(const Client& client, const stateid4& stateid) const {
  const auto state = find(client, stateid);
  if (!state) return refuse(state.error());
  if ((*state)->kind() != StateKind::lock) return refuse(NFS4ERR_BAD_STATEID);
  return static_cast<LockState*>(*state);
}

Outcome<DelegationState*> StateTable::find_delegation(const Client& client,
                                                      const stateid4& stateid) const {
  const auto state = find_known(client, stateid);
  if (!state) return refuse(state.error());
  if ((*state)->kind() != StateKind::delegation) return refuse(NFS4ERR_BAD_STATEID);
  return static_cast<DelegationState*>(*state);
}

DelegationState* StateTable::find_delegation(std::uint64_t id) const {
  const auto found = states_.find(id);
  if (found == states_.end() || found->second->kind() != StateKind::delegation) return nullptr;
  return static_cast<DelegationState*>(found->second.get());
}

const StateTable::FileState* StateTable::state_of(const File& file) const {
  const auto found = files_with_state_.find(&file);
  return found == files_with_state_.end() ? nullptr : &found->second;
}

LockRanges* StateTable::locks_on(const File& file) {
  const auto found = files_with_state_.find(&file);
  return found == files_with_state_.end() ? nullptr : &found->second.locks;
}

OpenState* StateTable::open_of(const Client& client, std::string_view owner,
                               const File& file) const {
  const FileState* state = state_of(file);
  if (!state) return nullptr;
  const auto found = std::ranges::find_if(state->opens, [&](const OpenState* open) {
    return &open->client == &client && open->owner == owner;
  });
  return found == state->opens.end() ? nullptr : *found;
}

LockState* StateTable::lock_of(const Client& client, std::string_view owner,
                               const File& file) const {
  const FileState* state = state_of(file);
  if (!state) return nullptr;
  const auto found = std::ranges::find_if(state->lock_states, [&](const LockState* lock) {
    return &lock->client == &client && lock->owner == owner && !lock->revoked;
  });
  return found == state->lock_states.end() ? nullptr : *found;
}

const OpenState* StateTable::conflicting_open(const File& file, const Share& share,
                                              const OpenState* own) const {
  const FileState* state = state_of(file);
  if (!state) return nullptr;
  const auto found = std::ranges::find_if(state->opens, [&](const OpenState* open) {
    return open != own && open->share.conflicts_with(share);
  });
  return found == state->opens.end() ? nullptr : *found;
}

OpenState* StateTable::any_open(const File& file, std::uint32_t access) const {
  const FileState* state = state_of(file);
  if (!state) return nullptr;
  const auto found = std::ranges::find_if(
      state->opens, [&](const OpenState* open) { return (open->descriptor_access & access) != 0; });
  return found == state->opens.end() ? nullptr : *found;
}

OpenState& StateTable::add_open(Client& client, FileRef file, std::string_view owner) {
  auto open = std::make_unique<OpenState>(next_++, client, std::move(file), std::string(owner));
  OpenState& added = *open;
  ++opens_;
  files_with_state_[added.file.get()].opens.push_back(&added);
  states_.emplace(added.id, std::move(open));
  return added;
}

LockState& StateTable::add_lock(OpenState& open, std::string_view owner) {
  auto lock = std::make_unique<LockState>(next_++, open, std::string(owner));
  LockState& added = *lock;
  files_with_state_[added.file.get()].lock_states.push_back(&added);
  open.locks.push_back(&added);
  states_.emplace(added.id, std::move(lock));
  return added;
}

void StateTable::remove_open(OpenState& open) {
  while (!open.locks.empty()) remove_lock(*open.locks.back());
  --opens_;
  const FileRef file = open.file;
  std::erase(files_with_state_[file.get()].opens, &open);
  states_.erase(std::uint64_t{open.id});
  drop_if_empty(*file);
  files_.forget_if_removed(file);
}

void StateTable::remove_lock(LockState& lock) {
  const FileRef file = lock.file;
  if (lock.revoked) --lock.client.revoked_locks;
  FileState& state = files_with_state_[file.get()];
  state.locks.unlock_all(&lock);
  std::erase(state.lock_states, &lock);
  std::erase(lock.open().locks, &lock);
  states_.erase(std::uint64_t{lock.id});
}

std::size_t StateTable::revoke_locks() {
  std::size_t count = 0;
  for (auto& [file, state] : files_with_state_) {
    for (LockState* lock : state.lock_states) {
      if (lock->revoked) continue;
      state.locks.unlock_all(lock);
      lock->revoked = true;
      ++lock->client.revoked_locks;
      ++count;
    }
  }
  return count;
}

DelegationState& StateTable::add_delegation(Client& client, FileRef file, bool for_writing) {
  auto made = std::make_unique<DelegationState>(next_++, client, std::move(file), for_writing);
  DelegationState& added = *made;
  files_with_state_[added.file.get()].delegations.push_back(&added);
  states_.emplace(added.id, std::move(made));
  ++delegations_;
  return added;
}

void StateTable::remove_delegation(DelegationState& delegation) {
  const FileRef file = delegation.file;
  std::erase(files_with_state_[file.get()].delegations, &delegation);
  states_.erase(std::uint64_t{delegation.id});
  --delegations_;
  drop_if_empty(*file);
  files_.forget_if_removed(file);
}

std::span<OpenState* const> StateTable::opens_of(const File& file) const {
  const FileState* state = state_of(file);
  return state ? std::span<OpenState* const>(state->opens) : std::span<OpenState* const>();
}

std::span<DelegationState* const> StateTable::delegations_of(const File& file) const {
  const FileState* state = state_of(file);
  if (!state) return {};
  return state->delegations;
}

std::vector<DelegationState*> StateTable::all_delegations() const {
  std::vector<DelegationState*> all;
  for (const auto& [file, state] : files_with_state_) {
    all.insert(all.end(), state.delegations.begin(), state.delegations.end());
  }
  return all;
}

void StateTable::drop_if_empty(const File& file) {
  const auto found = files_with_state_.find(&file);
  if (found == files_with_state_.end()) return;
  if (found->second.opens.empty() && found->second.delegations.empty()) {
    files_with_state_.erase(found);
  }
}

void StateTable::remove_all_of(const Client& client) {
  std::vector<OpenState*> opens;
  std::vector<DelegationState*> delegations;
  for (auto& [id, state] : states_) {
    if (&state->client != &client) continue;
    if (state->kind() == StateKind::open) {
      opens.push_back(static_cast<OpenState*>(state.get()));
    } else if (state->kind() == StateKind::delegation) {
      delegations.push_back(static_cast<DelegationState*>(state.get()));
    }
  }
  for (OpenState* open : opens) remove_open(*open);
  for (DelegationState* delegation : delegations) remove_delegation(*delegation);
}

bool StateTable::has_any(const Client& client) const {
  return std::ranges::any_of(states_,
                             [&](const auto& entry) { return &entry.second->client == &client; });
}

}  // namespace nfsrdma::responder
