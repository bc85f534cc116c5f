// States behind stateids (RFC 8881 section 8.2): an open, a set of byte-range locks, or a
// delegation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/responder/nfs/fs/file.h"
#include "tests/responder/nfs/session/client_table.h"
#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

struct OpenState;

enum class StateKind : std::uint8_t { open, lock, delegation };

struct State {
  State(std::uint64_t state_id, Client& holder, FileRef on)
      : id(state_id), client(holder), file(std::move(on)) {}
  virtual ~State() = default;
  virtual StateKind kind() const = 0;
  /// The descriptor for READ and WRITE, and the OPEN4_SHARE_ACCESS_* that it allows.
  virtual int fd() const = 0;
  virtual std::uint32_t access() const = 0;

  const std::uint64_t id;
  nfs4::seqid4 seqid = 1;
  Client& client;
  const FileRef file;
};

struct LockState;

/// OPEN4_SHARE_ACCESS_* and OPEN4_SHARE_DENY_* bits of one open.
struct Share {
  std::uint32_t access = 0;
  std::uint32_t deny = 0;

  bool conflicts_with(const Share& other) const {
    return (access & other.deny) != 0 || (deny & other.access) != 0;
  }
};

/// An open-owner's open of a file. One descriptor serves all its READs and WRITEs.
struct OpenState final : State {
  OpenState(std::uint64_t state_id, Client& holder, FileRef on, std::string open_owner)
      : State(state_id, holder, std::move(on)), owner(std::move(open_owner)) {
    file->add_user();
  }
  ~OpenState() override { file->drop_user(); }
  StateKind kind() const override { return StateKind::open; }
  int fd() const override { return descriptor.get(); }
  std::uint32_t access() const override { return share.access; }

  const std::string owner;
  Share share;
  /// Every combination that an OPEN asked for: what OPEN_DOWNGRADE may go back to.
  std::vector<Share> opened;
  UniqueFd descriptor;
  /// Access of the descriptor; may be more than share.access after a downgrade.
  std::uint32_t descriptor_access = 0;
  std::vector<LockState*> locks;
};

/// A lock-owner's locks on a file; lives no longer than the open it came from.
struct LockState final : State {
  LockState(std::uint64_t state_id, OpenState& from, std::string lock_owner)
      : State(state_id, from.client, from.file), owner(std::move(lock_owner)), open_(from) {}
  StateKind kind() const override { return StateKind::lock; }
  int fd() const override { return open_.fd(); }
  std::uint32_t access() const override { return open_.access(); }
  OpenState& open() const { return open_; }

  const std::string owner;
  bool revoked = false;  ///< by revoke_locks(): waits for FREE_STATEID

 private:
  OpenState& open_;
};

/// A client's delegation of a file (RFC 8881 section 10.4): the client uses the file alone, so its
/// READs and WRITEs need no open.
struct DelegationState final : State {
  DelegationState(std::uint64_t state_id, Client& holder, FileRef on, bool for_writing)
      : State(state_id, holder, std::move(on)), writes(for_writing) {
    file->add_user();
  }
  ~DelegationState() override { file->drop_user(); }
  StateKind kind() const override { return StateKind::delegation; }
  int fd() const override { return descriptor.get(); }
  std::uint32_t access() const override;

  const bool writes;                     ///< OPEN_DELEGATE_WRITE
  UniqueFd descriptor;                   ///< opened when it is first needed
  std::optional<TimePoint> recalled_at;  ///< when it was first asked back
  bool told = false;                     ///< the client has answered CB_RECALL
  bool asking = false;                   ///< a callback about it is in flight
  bool revoked = false;                  ///< not returned in time: waits for FREE_STATEID
  /// The holder's last answer about size and change (CB_GETATTR); empty if it was of no
  /// use.
  std::optional<std::uint64_t> size;
  std::uint64_t change = 0;
};

}  // namespace nfsrdma::responder
