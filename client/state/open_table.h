// All opens of a mount, and the rules by which several opens of one file share a stateid.
//
// An OPEN of a known file and a CLOSE or OPEN_DOWNGRADE of the same owner and file are never under
// way together (OpenTable::Opening): some servers let a CLOSE that an OPEN has made old end both.
// An OPEN by name tells its file only with the answer, so the two can still cross there.
//
// The races that matter then, and what decides them (RFC 8881 sections 8.2.2, 9.10):
//   OPEN and CLOSE cross, the server does OPEN first: CLOSE names an old seqid and gets
//   NFS4ERR_OLD_STATEID; it is repeated as soon as the result of the OPEN has been merged.
//   The server does CLOSE first: OPEN's stateid has another `other`; it replaces the closed one,
//   whichever reply comes first.
//   The server does OPEN first and then CLOSE all the same: what is in use is opened anew.
//   Two OPENs' replies come in the wrong order: the higher seqid is kept.
// CLOSE and OPEN_DOWNGRADE of one OpenFile never run at the same time (OpenFile::changing_).
// After a recovery they start over with the stateid that was got back; a CLOSE of an open that the
// server has forgotten has nothing to do.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/proto/object.h"
#include "client/state/file_handle_hash.h"
#include "client/state/open_state.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

class Mount;

/// See the head of this file. Belongs to one shard; outlives every OpenRef.
class OpenTable {
 public:
  explicit OpenTable(Mount& mount) : mount_(mount) {}

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
  /// Ends when no CLOSE or OPEN_DOWNGRADE of the same owner and file is under way; none begins as
  /// long as the Opening lives.
  Task<Opening> begin_open(Credential caller, FileHandle handle);
  Task<Opening> begin_open(OpenFileRef file);

  /// Takes over the result of a successful OPEN.
  OpenRef merge(const Credential& caller, const FileHandle& handle, std::uint32_t share_access,
                const nfs4::stateid4& stateid);
  /// One more open of a file whose delegation covers it: nothing is sent. Empty when there is no
  /// such delegation, or this caller has not been let in by the server yet.
  OpenRef open_locally(const Credential& caller, const FileHandle& handle,
                       std::uint32_t share_access);
  /// Has the server know every open in use that only the delegation covered: OPEN with
  /// CLAIM_DELEG_CUR_FH (RFC 8881 section 10.2.1). An open that it does not take is to be opened
  /// anew.
  Task<Result<void>> claim(OpenFileRef file);
  /// The file's opens may use the delegation.
  static void attach(OpenFile& file, const DelegationRef& delegation);
  /// No open uses the delegation any more; returns those that did. One that the server does not
  /// know is opened anew.
  std::vector<OpenFileRef> detach(Delegation& delegation);
  /// Calls `visit(OpenFile&)` for each open-owner's open of the file.
  template <class Visit>
  void for_each_of(const FileHandle& handle, Visit visit) const {
    const auto [begin, end] = files_.equal_range(handle);
    for (auto place = begin; place != end; ++place) visit(*place->second);
  }
  /// Brings what the server has granted down to what is in use.
  Task<void> close_quietly(OpenFileRef file);
  /// The server has forgotten all opens: those that were kept open for their delegation alone go.
  void forget_kept();
  /// See client/files/close.h.
  Task<Result<void>> release(OpenRef open);
  /// The same, unobserved.
  void release_in_background(OpenRef open);
  /// CLOSEs everything, whoever still refers to it. No open is given back to the server afterwards.
  Task<Result<void>> close_all();
  /// Takes over a stateid that the server has given for this access.
  static void take(OpenFile& file, const nfs4::stateid4& stateid, std::uint32_t share_access);
  /// Opens that are in use, for their recovery; those that are on their way out are forgotten.
  std::vector<std::shared_ptr<OpenFile>> in_use();
  /// The server has taken away what a lock-owner has locked, or all owners of the open: their reads
  /// and writes of the file fail until they unlock or close it. `why` is for the log.
  void lose_locks(OpenFile& file, const std::string& why);
  void lose_locks(LockState& lock, const std::string& why);
  /// The open is gone for good, all uses of it fail. `why` is for the log.
  void give_up(OpenFile& file, const std::string& why);

  std::size_t open_files() const { return files_.size(); }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  using FileRef = std::shared_ptr<OpenFile>;

  /// Null when this user has not opened the file.
  FileRef find(std::uint32_t uid, const FileHandle& handle) const;
  FileRef obtain(const Credential& caller, const FileHandle& handle);
  void forget(const OpenFile& file);
  Task<Result<void>> close_or_downgrade(FileRef file);
  Task<Result<void>> claim(FileRef file, std::uint32_t share_access);
  Task<Result<void>> send_close(FileRef file);
  Task<Result<void>> send_downgrade(FileRef file, std::uint32_t needed);
  Task<void> release_quietly(OpenRef open);
  void forget_if_unused(const FileRef& file);
  Task<Result<void>> narrow(FileRef file, std::uint32_t needed);
  static bool forgotten_by_server(const Error& error);

  Mount& mount_;
  std::unordered_multimap<FileHandle, FileRef, FileHandleHash> files_;  // one for each user
  bool closed_ = false;
  Counter opens_;
  Counter closes_;
  Counter downgrades_;
  Counter claims_;
  Counter old_stateids_;
  Counter lost_;
  Counter locks_lost_;
};

}  // namespace nfsrdma::client
