// All opens, locks and delegations, by stateid and by file.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "client/proto/types.h"
#include "tests/responder/nfs/fs/file_table.h"
#include "tests/responder/nfs/fs/outcome.h"
#include "tests/responder/nfs/state/lock_ranges.h"
#include "tests/responder/nfs/state/state.h"

namespace nfsrdma::responder {

/// seqid UINT32_MAX, other zero: what CLOSE returns (RFC 8881 section 8.2.3).
inline constexpr nfs4::stateid4 kInvalidStateid{UINT32_MAX, {}};

/// A stateid that names no state of this table but has a meaning of its own.
bool is_special(const nfs4::stateid4& stateid);

class StateTable {
 public:
  /// `instance` is part of every stateid, so that one of an earlier instance is told apart.
  StateTable(std::uint32_t instance, FileTable& files) : instance_(instance), files_(files) {}

  nfs4::stateid4 stateid_of(const State& state) const;
  /// STALE_STATEID, BAD_STATEID, OLD_STATEID, DELEG_REVOKED, ADMIN_REVOKED. The stateid must not be
  /// special.
  Outcome<State*> find(const Client& client, const nfs4::stateid4& stateid) const;
  Outcome<OpenState*> find_open(const Client& client, const nfs4::stateid4& stateid) const;
  Outcome<LockState*> find_lock(const Client& client, const nfs4::stateid4& stateid) const;
  /// Null when it is not that of a revoked lock.
  LockState* find_revoked_lock(const Client& client, const nfs4::stateid4& stateid) const;
  /// A revoked one, too.
  Outcome<DelegationState*> find_delegation(const Client& client,
                                            const nfs4::stateid4& stateid) const;
  DelegationState* find_delegation(std::uint64_t id) const;

  /// Null when that owner has not opened that file.
  OpenState* open_of(const Client& client, std::string_view owner, const File& file) const;
  LockState* lock_of(const Client& client, std::string_view owner, const File& file) const;
  /// An open other than `own` that conflicts with `share`, or null.
  const OpenState* conflicting_open(const File& file, const Share& share,
                                    const OpenState* own) const;
  /// Any open of the file with a descriptor that has one of the `access` bits, or null.
  OpenState* any_open(const File& file, std::uint32_t access) const;

  OpenState& add_open(Client& client, FileRef file, std::string_view owner);
  LockState& add_lock(OpenState& open, std::string_view owner);
  DelegationState& add_delegation(Client& client, FileRef file, bool for_writing);
  /// Ends an open with its locks.
  void remove_open(OpenState& open);
  void remove_lock(LockState& lock);
  /// Takes away all locks of all clients; their stateids are ADMIN_REVOKED until they are freed.
  /// Returns how many stateids that are.
  std::size_t revoke_locks();
  void remove_delegation(DelegationState& delegation);
  void remove_all_of(const Client& client);
  bool has_any(const Client& client) const;

  /// The locks of a file; null when it is not open.
  LockRanges* locks_on(const File& file);
  /// Opens and delegations of a file.
  std::span<OpenState* const> opens_of(const File& file) const;
  std::span<DelegationState* const> delegations_of(const File& file) const;
  std::vector<DelegationState*> all_delegations() const;
  std::size_t delegations() const { return delegations_; }
  std::size_t opens() const { return opens_; }
  /// Opens, locks and delegations.
  std::size_t size() const { return states_.size(); }

 private:
  struct FileState {
    std::vector<OpenState*> opens;
    std::vector<LockState*> lock_states;
    std::vector<DelegationState*> delegations;
    LockRanges locks;
  };

  Outcome<State*> find_known(const Client& client, const nfs4::stateid4& stateid) const;
  const FileState* state_of(const File& file) const;
  void drop_if_empty(const File& file);

  std::uint32_t instance_;
  FileTable& files_;
  std::uint64_t next_ = 1;
  std::size_t delegations_ = 0;
  std::size_t opens_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<State>> states_;
  std::unordered_map<const File*, FileState> files_with_state_;
};

}  // namespace nfsrdma::responder
