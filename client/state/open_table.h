// All opens of a mount, and the rules by which several opens of one file share a stateid.
//
// An OPEN of a known file and a CLOSE or OPEN_DOWNGRADE of the same owner and file are never under
// way together (OpenTable::Opening): some servers let a CLOSE whose seqid is outdated end both. An
// OPEN by name tells its file only with the answer, so the two can still cross there.
//
// The races that matter then, and what decides them (RFC 8881 sections 8.2.2, 9.10):
//   OPEN and CLOSE cross, the server does OPEN first: CLOSE names an old seqid and gets
//   NFS4ERR_OLD_STATEID; it is repeated as soon as the result of the OPEN has been merged.
//   The server does CLOSE first: OPEN's stateid has another `other`; it replaces the closed one,
//   whichever reply comes first.
//   The server does OPEN first and then CLOSE all the same: what is in use is opened anew.
//   Two OPENs' replies come in the wrong order: the higher seqid is kept.
// CLOSE and OPEN_DOWNGRADE of one OpenFile never run at the same time (OpenFile::changing()).
// After a recovery they start over with the stateid that was got back; a CLOSE of an open that the
// server has forgotten has nothing to do. They are sent by OpenFiles (client/files).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/proto/object.h"
#include "client/state/file_handle_hash.h"
#include "client/state/open_file.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// See the head of this file. Sends nothing. Belongs to one shard; outlives every OpenFileRef.
class OpenTable {
 public:
  explicit OpenTable(Reactor& reactor) : reactor_(reactor) {}

  /// An OPEN of a known file, from before it is sent until its answer is merged.
  class Opening {
   public:
    Opening(OpenTable& table, OpenFileRef file) : table_(&table), file_(std::move(file)) {}
    Opening(Opening&& other) noexcept
        : table_(other.table_), file_(std::exchange(other.file_, nullptr)) {}
    Opening& operator=(Opening&&) = delete;
    ~Opening() { end(); }
    /// Idempotent.
    void end();

   private:
    OpenTable* table_;
    OpenFileRef file_;
  };
  /// Ends when no CLOSE or OPEN_DOWNGRADE of the same owner and file is in flight; none begins as
  /// long as the Opening lives.
  Task<Opening> begin_open(Credential caller, FileHandle handle);
  Task<Opening> begin_open(OpenFileRef file);

  /// Takes over the result of a successful OPEN, with a reference for this access.
  OpenFileRef merge(const Credential& caller, const FileHandle& handle, std::uint32_t share_access,
                    const nfs4::stateid4& stateid);
  /// The opens of a file by this user, made if there are none.
  OpenFileRef obtain(const Credential& caller, const FileHandle& handle);
  /// Null when this user has not opened the file.
  OpenFileRef find(std::uint32_t uid, const FileHandle& handle) const;
  /// Calls `visit(OpenFile&)` for each open-owner's open of the file.
  template <class Visit>
  void for_each_of(const FileHandle& handle, Visit visit) const {
    const auto [begin, end] = files_.equal_range(handle);
    for (auto place = begin; place != end; ++place) visit(*place->second);
  }
  /// Calls `visit(OpenFile&)` for `most` opens, or all if there are fewer.
  template <class Visit>
  void visit_some(std::size_t most, Visit visit) const {
    for (auto place = files_.begin(); place != files_.end() && most > 0; ++place, --most) {
      visit(*place->second);
    }
  }
  /// The file's opens may use the delegation.
  static void attach(OpenFile& file, const DelegationRef& delegation);
  struct Detached {
    std::vector<OpenFileRef> files;  ///< those that used it
    bool reopen = false;             ///< some are not known to the server: they are opened anew
  };
  /// No open uses the delegation any more. If it has ended, locks that it alone has kept are lost.
  Detached detach(const Delegation& delegation);
  /// Forgets the file if it is not open and no OPEN is in flight.
  void forget_if_unused(const OpenFileRef& file);
  /// The server has forgotten all opens: those that were kept open for their delegation alone go.
  void forget_delegated();
  /// One by one, for the end of the mount; null: no more.
  OpenFileRef take_out();
  /// Opens that are in use, for their recovery; those that are on their way out are forgotten.
  std::vector<OpenFileRef> in_use() const;
  /// The server has revoked the locks of a lock-owner, or of all owners of the open: their reads
  /// and writes of the file fail until they unlock or close it. `why` is for the log.
  void lose_locks(OpenFile& file, const std::string& why);
  void lose_locks(LockState& lock, const std::string& why);
  /// The open is gone for good, all uses of it fail. `why` is for the log.
  void give_up(OpenFile& file, const std::string& why);

  std::size_t open_files() const { return files_.size(); }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  void forget(const OpenFile& file);
  /// Those that only this client knows of.
  void lose_local_locks(OpenFile& file);

  Reactor& reactor_;
  std::unordered_multimap<FileHandle, OpenFileRef, FileHandleHash> files_;  // one for each user
  Counter opens_;
  Counter lost_;
  Counter locks_lost_;
};

}  // namespace nfsrdma::client
