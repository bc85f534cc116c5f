// Delegations as they come, are recalled, and go back (RFC 8881 sections 10.2 to 10.4, 20.1, 20.2,
// 20.6).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/files/delegation_returner.h"
#include "client/proto/ops_callback.h"
#include "client/state/delegation_table.h"
#include "client/state/open_file.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// The file system above, which caches data and attributes, also under delegations. Must live as
/// long as it is attached.
class DelegationUser {
 public:
  /// Of a file that is held under a write delegation.
  struct LocalAttributes {
    std::uint64_t size = 0;    ///< bytes
    std::uint64_t change = 0;  ///< as the server has said last
    bool dirty = false;        ///< data are not at the server yet
  };

  /// Sends the file's dirty data and commits it.
  virtual Task<void> flush(FileHandle file) = 0;
  /// The server has restarted, or the lease has run out. Requests wait until that is recovered
  /// from.
  virtual void on_all_forgotten() = 0;
  /// From now on others may change the file: attributes must be fetched again.
  virtual void on_delegation_ended(const FileHandle& file) = 0;
  /// Nothing when the file is not known.
  virtual std::optional<LocalAttributes> local_attributes(const FileHandle& file) = 0;

 protected:
  ~DelegationUser() = default;
};

/// Takes, recalls and returns the delegations of a DelegationTable. Belongs to one shard.
class Delegations {
 public:
  /// Above this many, one that no open file uses is returned for each that comes.
  static constexpr std::size_t kWatermark = 4096;
  /// Returns of delegations that are not known here, at most at once.
  static constexpr std::size_t kMostStrays = 8;

  explicit Delegations(Files& files);

  /// Null: there is no user any more.
  void attach(DelegationUser* user) { user_ = user; }
  DelegationUser* user() { return user_; }

  /// The delegation of a file while it can be relied upon; null otherwise.
  DelegationRef held(const FileHandle& handle) const { return table_.held(handle); }
  bool any() const { return table_.any(); }

  /// While an OPEN that may bring a delegation is in flight, a recall may overtake its reply.
  class Asking {
   public:
    explicit Asking(Delegations& delegations) : delegations_(delegations) {
      ++delegations_.asking_;
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    ~Asking() { --delegations_.asking_; }

   private:
    Delegations& delegations_;
  };

  /// Takes over what came with an OPEN of `file`.
  void take(const OpenFileRef& file, const GrantedDelegation& granted, const Attributes& attributes,
            bool preserve_unlinked);

  // Requests of the server. Each call returns at once; the work it causes is done later.

  /// One that is not known here is returned, too: its grant may have been lost. NFS4ERR_DELAY: its
  /// grant may be on its way, or many of that kind are being returned.
  nfs4::nfsstat4 recall(const nfs4::CB_RECALL4args& args);
  nfs4::nfsstat4 recall_any(const nfs4::CB_RECALL_ANY4args& args);
  /// Size and change attribute of a file held for writing (CB_GETATTR).
  std::optional<Attributes> attributes_of(const FileHandle& handle) const;

  /// Returns the file's delegation, if there is one; ends when that is done.
  Task<void> give_back(FileHandle handle);
  /// The same for one that does not survive a change of the file's attributes.
  Task<void> give_back_for_change(FileHandle handle);
  /// Whether the file has no delegation, or one for writing that can be relied upon.
  bool survives_change(const FileHandle& handle) const;
  /// Starts to return every delegation in the background. How many are being returned then.
  std::size_t start_returns();
  /// Returns every delegation, at the end of a mount.
  Task<void> give_back_all();
  /// Starts to return it in the background.
  void start_return(const DelegationRef& delegation);
  /// The delegation was returned, revoked or lost. Opens that it alone covered are reopened.
  void drop(const DelegationRef& delegation);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  void return_stranger(const OpenFile& file, const nfs4::stateid4& stateid);
  nfs4::nfsstat4 return_stray(const FileHandle& file, const nfs4::stateid4& stateid);
  Task<void> return_stray_quietly(FileHandle file, nfs4::stateid4 stateid);
  bool is_stray(const nfs4::stateid4& stateid) const;

  Files& files_;
  DelegationTable& table_;
  DelegationUser* user_ = nullptr;
  DelegationReturner returner_;
  std::size_t asking_ = 0;
  std::vector<nfs4::stateid4> strays_;  // not known here, and being returned
  Counter recalled_;
};

}  // namespace nfsrdma::client
