// The delegations of a mount: found by file handle, so that a recall searches nothing.
//
// The rule by which opens stand on them: what an OpenFile has in use is covered by its delegation,
// or the server has it as an open. Opens that the delegation covers are counted here only; before
// it goes, they are made known to the server (OpenTable::secure). CLOSE and OPEN_DOWNGRADE of an
// open that the delegation covers wait until it goes.
//
// Who lost a delegation has lost nothing else: opens that the server does not know are opened anew
// by their own recovery (client/recovery).
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/callback/delegation_callbacks.h"
#include "client/files/delegation_returner.h"
#include "client/proto/object.h"
#include "client/state/delegation.h"
#include "client/state/file_handle_hash.h"
#include "client/state/open_state.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

class Mount;

/// The file system above, which has data and attributes that a delegation lets it keep. Outlives
/// its being attached.
class DelegationUser {
 public:
  /// Of a file that is held under a write delegation.
  struct LocalAttributes {
    std::uint64_t size = 0;    ///< bytes
    std::uint64_t change = 0;  ///< as the server has said last
    bool dirty = false;        ///< data are not at the server yet
  };

  /// Sends what was written to the file and is kept here, and commits it.
  virtual Task<void> flush(FileHandle file) = 0;
  /// From now on others may change the file: attributes are to be asked for again.
  virtual void on_delegation_ended(const FileHandle& file) = 0;
  /// Nothing when the file is not known.
  virtual std::optional<LocalAttributes> local_attributes(const FileHandle& file) = 0;

 protected:
  ~DelegationUser() = default;
};

/// See the head of this file. Belongs to one shard.
class DelegationTable final : public DelegationCallbacks {
 public:
  /// Above this many, one that no open file uses is returned for each that comes.
  static constexpr std::size_t kWatermark = 4096;

  explicit DelegationTable(Mount& mount) : mount_(mount), returner_(mount, *this) {}

  /// Null: nobody any more.
  void attach(DelegationUser* user) { user_ = user; }
  DelegationUser* user() { return user_; }

  /// The delegation of a file while it can be relied upon; null otherwise.
  DelegationRef held(const FileHandle& handle) const;
  bool any() const { return !all_.empty(); }
  /// There is one whose stateid the server accepts, held or being returned.
  bool known(const FileHandle& handle) const;

  /// While an OPEN that may bring a delegation is under way, a recall may overtake its reply.
  class Asking {
   public:
    explicit Asking(DelegationTable& table) : table_(table) { ++table_.asking_; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    ~Asking() { --table_.asking_; }

   private:
    DelegationTable& table_;
  };

  /// Takes over what came with an OPEN of `file`.
  void take(const OpenFileRef& file, const GrantedDelegation& granted, const Attributes& attributes,
            bool preserve_unlinked);
  /// The server has let this caller open the file.
  void authorize(const OpenFile& file, std::uint32_t access);
  /// The file's mode or owner has been changed here: who may open it is asked anew.
  void forget_admitted(const FileHandle& handle);
  /// It was used just now.
  void touch(Delegation& delegation);
  /// An open was answered without asking the server.
  void count_local_open() { local_opens_.add(); }
  /// Likewise a lock.
  void count_local_lock() { local_locks_.add(); }

  nfs4::nfsstat4 recall(const nfs4::CB_RECALL4args& args) override;
  nfs4::nfsstat4 recall_any(const nfs4::CB_RECALL_ANY4args& args) override;
  std::optional<Attributes> attributes_of(const FileHandle& handle) const override;

  /// Returns the file's delegation, if there is one; ends when that is done.
  Task<void> give_back(FileHandle handle);
  /// The same for one that only lets read.
  Task<void> give_back_for_change(FileHandle handle);
  /// Everything, at the end of a mount.
  Task<void> give_back_all();

  /// It is gone, whoever has ended it. Opens that stood on it are opened anew.
  void drop(const DelegationRef& delegation);
  /// For its recovery.
  std::vector<DelegationRef> all() const;

  std::size_t size() const { return all_.size(); }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  friend class DelegationReturner;
  friend class OpenReclaimer;
  friend class OpenTable;

  DelegationRef find(const FileHandle& handle) const;
  void start_return(const DelegationRef& delegation);
  void return_stranger(const OpenFile& file, const nfs4::stateid4& stateid);
  void keep_below_watermark();
  /// The delegations held that the mask names, least recently used first.
  std::vector<Delegation*> recallable(bool reading, bool writing);

  Mount& mount_;
  DelegationUser* user_ = nullptr;
  std::unordered_map<FileHandle, DelegationRef, FileHandleHash> all_;
  IntrusiveList<Delegation> held_;  // least recently used first
  DelegationReturner returner_;
  std::size_t asking_ = 0;
  Counter granted_;
  Counter recalled_;
  Counter lost_;
  Counter local_opens_;
  Counter local_locks_;
};

}  // namespace nfsrdma::client
