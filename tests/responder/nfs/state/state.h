// What a stateid stands for (RFC 8881 section 8.2): an open or a set of byte-range locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/responder/nfs/fs/file.h"
#include "tests/responder/nfs/session/client_table.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

struct OpenState;

struct State {
  State(std::uint64_t state_id, Client& holder, FileRef on)
      : id(state_id), client(holder), file(std::move(on)) {}
  virtual ~State() = default;
  /// The open this state reads and writes through.
  virtual OpenState& open() = 0;
  virtual bool is_open() const = 0;

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
  OpenState& open() override { return *this; }
  bool is_open() const override { return true; }

  const std::string owner;
  Share share;
  /// Every combination that an OPEN asked for: what OPEN_DOWNGRADE may go back to.
  std::vector<Share> opened;
  UniqueFd fd;
  std::uint32_t fd_access =
      0;  ///< what `fd` can do; may be more than share.access after a downgrade
  std::vector<LockState*> locks;
};

/// A lock-owner's locks on a file; lives no longer than the open it came from.
struct LockState final : State {
  LockState(std::uint64_t state_id, OpenState& from, std::string lock_owner)
      : State(state_id, from.client, from.file), owner(std::move(lock_owner)), open_(from) {}
  OpenState& open() override { return open_; }
  bool is_open() const override { return false; }

  const std::string owner;

 private:
  OpenState& open_;
};

}  // namespace nfsrdma::responder
