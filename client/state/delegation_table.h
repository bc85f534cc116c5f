// The delegations of a mount: found by file handle, so that a recall searches nothing.
//
// The rule for opens: each access in use of an OpenFile is covered by its delegation, or is known
// to the server as an open. Opens that only the delegation covers are counted here; before the
// delegation is returned, they are claimed at the server (OpenFiles::claim). CLOSE and
// OPEN_DOWNGRADE of an open that the delegation covers wait until it is returned.
//
// When a delegation is lost, its opens are not: those that the server does not know are opened anew
// by their own recovery (client/recovery).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/proto/object.h"
#include "client/state/delegation.h"
#include "client/state/file_handle_hash.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// See the head of this file. Sends nothing: that is for Delegations (client/files). Belongs to one
/// shard.
class DelegationTable {
 public:
  DelegationRef find(const FileHandle& handle) const;
  /// The delegation of a file while it can be relied upon; null otherwise.
  DelegationRef held(const FileHandle& handle) const;
  bool any() const { return !all_.empty(); }
  /// There is one whose stateid the server accepts, held or being returned.
  bool known(const FileHandle& handle) const;
  std::vector<DelegationRef> all() const;
  std::size_t size() const { return all_.size(); }
  /// Calls `visit(const Delegation&)` for `most` delegations, or all if there are fewer.
  template <class Visit>
  void visit_some(std::size_t most, Visit visit) const {
    for (auto place = all_.begin(); place != all_.end() && most > 0; ++place, --most) {
      visit(*place->second);
    }
  }

  /// Notes the grant in the file's delegation; makes one if there was none.
  DelegationRef put(const FileHandle& handle, const Credential& caller,
                    const GrantedDelegation& granted, const Attributes& attributes,
                    bool preserve_unlinked);
  /// The server has let this caller open the file.
  void authorize(const FileHandle& handle, const Credential& caller, std::uint32_t access);
  /// The file's mode or owner has been changed here: the server must authorize its users again.
  void forget_authorized(const FileHandle& handle);
  /// The file's size was set here, or is about to be; empty: it was not.
  void note_size(const FileHandle& handle, std::optional<std::uint64_t> size);
  /// It was used just now.
  void touch(Delegation& delegation);
  /// The delegations held of these kinds, least recently used first.
  std::vector<Delegation*> recallable(bool reading, bool writing);
  /// One that no open file uses, near the least recently used; null: none was found.
  DelegationRef unused();
  /// It is relied upon no more. False when it was not anyway.
  bool begin_return(Delegation& delegation);
  /// The server has forgotten all state, that of grants under way, too.
  void note_forgotten() { ++times_forgotten_; }
  std::uint64_t times_forgotten() const { return times_forgotten_; }
  /// The delegation has ended, by either side. True when it was lost, not returned.
  bool end(Delegation& delegation);

  /// An open was answered without asking the server.
  void count_local_open() { local_opens_.add(); }
  /// Likewise a lock.
  void count_local_lock() { local_locks_.add(); }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  std::unordered_map<FileHandle, DelegationRef, FileHandleHash> all_;
  IntrusiveList<Delegation> held_;  // least recently used first
  std::uint64_t times_forgotten_ = 0;
  Counter granted_;
  Counter lost_;
  Counter local_opens_;
  Counter local_locks_;
};

}  // namespace nfsrdma::client
