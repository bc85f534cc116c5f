// The opens of this client: one OpenFile for each file and open-owner, shared by all opens of
// it.
//
// The server keeps one open stateid for a file and open-owner, however often it is opened
// (RFC 8881 section 9.9), so several opens share an OpenFile, and the last one closes it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/state/delegation.h"
#include "client/state/lock_state.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/pauses.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::client {

class OpenTable;

/// The opens of one file by one open-owner. Owned by the OpenTable; alive as long as an OpenRef
/// names it. As a list node it stands among the files that use its delegation.
class OpenFile final : public StateHolder,
                       public ListNode,
                       public std::enable_shared_from_this<OpenFile> {
 public:
  OpenFile(Reactor& reactor, FileHandle handle, Credential caller)
      : handle_(handle),
        caller_(caller),
        locks_(*this, reactor),
        changing_(reactor),
        crossing_(reactor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// For READ, WRITE and SETATTR: the delegation's while there is one that covers all that is in
  /// use (RFC 8881 section 8.2.5), else the open's.
  nfs4::stateid4 stateid() const override {
    return uses_delegation() ? delegation_->stateid() : open_stateid();
  }
  /// With seqid zero, "the current one" (RFC 8881 section 8.2.2), so that it stays valid when an
  /// OPEN or OPEN_DOWNGRADE in flight raises the seqid.
  nfs4::stateid4 open_stateid() const {
    nfs4::stateid4 current = newest_;
    current.seqid = 0;
    return current;
  }
  /// A delegation covers all accesses in use: requests name its stateid.
  bool uses_delegation() const {
    if (!delegation_) return false;
    const std::uint32_t needed = share_access();
    return delegation_->covers(needed) || (needed & ~server_access_) != 0;
  }
  const FileHandle& handle() const { return handle_; }
  /// The first opener. For what needs no rights at the server beyond those of the uid: others open
  /// it with other groups.
  const Credential& caller() const { return caller_; }
  /// Who has opened it last with this share access: for an OPEN that asks for the access again.
  const Credential& opener(std::uint32_t access) const { return openers_[access]; }
  /// Of the file, for messages; 0: not known.
  std::uint64_t fileid() const { return fileid_; }
  void set_fileid(std::uint64_t fileid) { fileid_ = fileid; }
  /// Union of what the open references need: OPEN4_SHARE_ACCESS_* bits.
  std::uint32_t share_access() const;
  std::uint32_t references() const { return counts_[1] + counts_[2] + counts_[3]; }
  /// One reference more, or less, that was opened with this share access.
  void add_reference(std::uint32_t access, const Credential& opener) {
    ++counts_[access];
    openers_[access] = opener;
  }
  void drop_reference(std::uint32_t access) { --counts_[access]; }
  void drop_references() { counts_ = {}; }
  bool opened_for(std::uint32_t access) const { return counts_[access] > 0; }
  /// The server would not give this open back; every use of it fails with EIO.
  bool lost() const override { return lost_; }
  bool recovering() const override {
    return claim_ != Claim::none || (uses_delegation() && delegation_->recovering());
  }
  void on_refused(nfs4::nfsstat4 status) override;
  /// The open at the server: for locks, which need it even under a delegation.
  StateHolder& server_open() { return server_open_; }
  /// The delegation that covers the opens, or could; null: none.
  const DelegationRef& delegation() const { return delegation_; }
  FileLocks& locks() { return locks_; }
  const FileLocks& locks() const { return locks_; }
  /// A write delegation is there, not in doubt, and not being returned.
  bool delegated_for_writing() const {
    return delegation_ && delegation_->writes() && delegation_->held();
  }
  /// The server knows of every open that is in use.
  bool claimed() const;
  /// It does not, and the delegation does not cover them.
  bool needs_claiming() const {
    return delegation_ && !delegation_->covers(share_access()) && !claimed();
  }

  // The open at the server, for the requests that change it.

  /// With the seqid that came last.
  const nfs4::stateid4& newest_stateid() const { return newest_; }
  /// OPEN4_SHARE_ACCESS_* bits that the server has granted.
  std::uint32_t server_access() const { return server_access_; }
  /// The widest share access that an open in use needs and no OPEN has asked for; 0: none.
  std::uint32_t unclaimed() const;
  /// CLOSE and OPEN_DOWNGRADE wait until the delegation goes.
  bool held_by_delegation() const {
    return delegation_ && delegation_->held() && delegation_->covers(server_access_);
  }
  /// CLOSE, OPEN_DOWNGRADE and claims go one at a time.
  AsyncMutex& changing() { return changing_; }
  /// An OPEN is in flight, or waits for a CLOSE or OPEN_DOWNGRADE to end.
  bool opening() const { return opening_ > 0; }
  /// `co_await file->crossing()` ends when the last of them, or the change below, has ended.
  WaitQueue::Wait crossing() { return crossing_.wait(); }
  /// A CLOSE or OPEN_DOWNGRADE is on its way: the server may have less than server_access().
  bool narrowing() const { return narrowing_; }
  void begin_narrowing() { narrowing_ = true; }
  void end_narrowing() {
    narrowing_ = false;
    crossing_.wake_all();
  }
  /// Ends the pause when the result of an OPEN is merged; null: none pauses any more.
  void set_until_merged(Pauses::Pause* pause) { until_merged_ = pause; }
  /// OPEN has brought this stateid for this access.
  void opened(const nfs4::stateid4& stateid, std::uint32_t share_access);
  /// OPEN_DOWNGRADE to `needed` has brought this stateid.
  void downgraded(const nfs4::stateid4& stateid, std::uint32_t needed);
  /// A change that was executed unseen has counted the seqid on: zero means the one that is
  /// current.
  void outdate_stateid() { newest_.seqid = 0; }
  /// The server has it no more. Users that remain must not name a stateid of zeros, the anonymous
  /// one (RFC 8881 section 8.2.3): the file is opened anew first.
  void closed();

  // Recovery (client/recovery).

  /// How the open must be recovered.
  enum class Claim : std::uint8_t {
    none,      ///< the server has it
    previous,  ///< reclaimed in the grace period: CLAIM_PREVIOUS
    anew,      ///< opened as for the first time: CLAIM_FH
    freed,     ///< revoked: to be acknowledged with FREE_STATEID, and lost
  };
  Claim claim() const { return claim_; }
  /// The server has forgotten it, and everything else.
  void forgotten() { claim_ = Claim::previous; }
  /// The server did not let it be reclaimed: it is opened anew.
  void not_reclaimed() {
    claim_ = Claim::anew;
    forget_attempts();
  }
  /// One more attempt. False: so many have been in vain that the open is lost.
  bool may_try_again(TimePoint now, Duration lease) {
    // The grace period is about a lease long: an open whose claims have lost the connection for as
    // long is given up.
    const bool cut_off_for_long = first_cut_ && now - *first_cut_ > lease;
    return ++vain_claims_ <= kMaxVainClaims && !cut_off_for_long;
  }
  /// The network has failed during the attempt, which says nothing of the open.
  void claim_cut_off(TimePoint now) {
    --vain_claims_;
    ++cut_claims_;
    if (!first_cut_) first_cut_ = now;
  }
  std::uint32_t cut_claims() const { return cut_claims_; }
  /// Each share access in use is asked for again.
  void begin_reopening() { opened_with_ = 0; }
  void recovered() {
    claim_ = Claim::none;
    forget_attempts();
  }

 private:
  friend class OpenTable;

  /// The open as the server has it, without the delegation.
  class ServerOpen final : public StateHolder {
   public:
    explicit ServerOpen(OpenFile& file) : file_(file) {}
    nfs4::stateid4 stateid() const override { return file_.open_stateid(); }
    bool lost() const override { return file_.lost_; }
    bool recovering() const override { return file_.claim_ != Claim::none; }
    // A revoked open stays revoked; all others are reopened.
    void on_refused(nfs4::nfsstat4 status) override;

   private:
    OpenFile& file_;
  };

  void forget_attempts() {
    vain_claims_ = 0;
    cut_claims_ = 0;
    first_cut_.reset();
  }

  /// The same step in vain that often, and the open is lost.
  static constexpr std::uint8_t kMaxVainClaims = 2;

  const FileHandle handle_;
  const Credential caller_;
  std::uint64_t fileid_ = 0;
  nfs4::stateid4 newest_{};
  std::uint32_t server_access_ = 0;        ///< granted by the server
  std::uint32_t opened_with_ = 0;          ///< a bit (1 << share access) for each kind of OPEN
  std::array<std::uint32_t, 4> counts_{};  ///< references by share_access (index 1, 2, 3)
  std::array<Credential, 4> openers_{};    ///< likewise, the last of each
  ServerOpen server_open_{*this};
  FileLocks locks_;
  DelegationRef delegation_;  ///< that covers the opens, or could
  AsyncMutex changing_;
  std::uint32_t opening_ = 0;
  bool narrowing_ = false;
  WaitQueue crossing_;
  Pauses::Pause* until_merged_ = nullptr;
  Claim claim_ = Claim::none;
  std::uint8_t vain_claims_ = 0;  ///< attempts to get it back, without success in between
  std::uint32_t cut_claims_ = 0;  ///< those that the network has cut off, counted apart
  std::optional<TimePoint> first_cut_;
  bool lost_ = false;
};

/// Keeps an OpenFile alive, but not open.
using OpenFileRef = std::shared_ptr<OpenFile>;

/// For requests that name the open, whatever is delegated.
inline StateRef server_open(const OpenFileRef& file) { return {file, &file->server_open()}; }

}  // namespace nfsrdma::client
