// One delegation: the server's promise that no other client changes a file (read), or uses it at
// all (write), until it is recalled (RFC 8881 section 10.4).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/requests/open.h"
#include "transport/base/intrusive_list.h"

namespace nfsrdma::client {

class OpenFile;

/// Owned by the DelegationTable, and by each OpenFile that uses it. As a list node it stands among
/// the delegations held, or among those that wait to be returned. Belongs to one shard.
class Delegation final : public StateHolder, public ListNode {
 public:
  enum class Phase : std::uint8_t {
    held,       ///< relied upon
    returning,  ///< its opens are being made known to the server; nothing new starts under it
    gone,       ///< returned, or lost
  };

  Delegation(const FileHandle& handle, const Credential& caller, const GrantedDelegation& granted);
  ~Delegation();

  /// Beside OPEN4_SHARE_ACCESS_*, in what a caller is authorized to: to execute the file.
  static constexpr std::uint32_t kExecutes = 1U << 31;

  /// With seqid zero, "the current one".
  nfs4::stateid4 stateid() const override {
    nfs4::stateid4 current = stateid_;
    current.seqid = 0;
    return current;
  }
  /// With the seqid that came last.
  const nfs4::stateid4& newest_stateid() const { return stateid_; }
  bool lost() const override { return phase_ == Phase::gone; }
  bool recovering() const override { return trouble_ != Trouble::none; }
  void on_refused(nfs4::nfsstat4 status) override;

  const FileHandle& handle() const { return handle_; }
  const Credential& caller() const { return caller_; }
  bool writes() const { return writes_; }
  /// Not being returned, though perhaps in trouble.
  bool relied_upon() const { return phase_ == Phase::held; }
  bool held() const { return phase_ == Phase::held && trouble_ == Trouble::none; }
  /// Whether it alone covers opens with this share access (OPEN4_SHARE_ACCESS_*).
  bool covers(std::uint32_t access) const {
    return writes_ || (access & nfs4::OPEN4_SHARE_ACCESS_WRITE) == 0;
  }
  /// Whether the server has let this caller open the file with this access since it was granted
  /// (OPEN4_SHARE_ACCESS_*, kExecutes).
  bool allows(const Credential& caller, std::uint32_t access) const;
  /// Any file that uses it is open here.
  bool in_use() const;
  bool preserve_unlinked() const { return preserve_unlinked_; }
  /// Of the file, for messages.
  std::uint64_t fileid() const { return fileid_; }
  /// Size and change attribute of the file when it was granted, the size as it was set since.
  std::uint64_t size() const { return size_; }
  std::uint64_t change() const { return change_; }

  /// How often the size has been set here.
  std::uint32_t resizes() const { return resizes_; }
  /// The size was set, or is about to be.
  void resized(std::uint64_t size);
  /// A WRITE that was sent after `resizes` of them has ended at `end`.
  void wrote_to(std::uint64_t end, std::uint32_t resizes);
  /// Bytes that the file has at least, because nobody else can cut off what was written here; zero
  /// unless it is held for writing. NFS-Ganesha 9 shows its holder an older size.
  std::uint64_t least_size() const { return writes_ && held() ? written_end_ : 0; }

  /// The file's opens may use it from now on.
  void add(OpenFile& file) const;
  /// Calls `visit(OpenFile&)` for each open that can use it.
  template <class Visit>
  void for_each_file(Visit visit) const {
    files_.for_each(visit);
  }

  /// The server has restarted: it must be reclaimed with an open.
  void forgotten() { trouble_ = Trouble::forgotten; }
  bool to_be_reclaimed() const { return trouble_ == Trouble::forgotten; }
  void reclaimed(const GrantedDelegation& granted);
  /// The server wants its loss acknowledged with FREE_STATEID.
  bool revoked() const { return trouble_ == Trouble::revoked; }

 private:
  friend class DelegationTable;

  /// The step that is needed before it can be relied upon again, or is given up.
  enum class Trouble : std::uint8_t {
    none,
    forgotten,  ///< the server has restarted: to be reclaimed with an open
    refused,    ///< the server does not accept its stateid
    revoked,    ///< and wants that acknowledged with FREE_STATEID
  };
  /// A caller that the server has let open the file.
  struct Authorized {
    Credential caller;
    std::uint32_t access = 0;
  };
  /// More users than that are asked about at the server.
  static constexpr std::size_t kMostAuthorized = 8;

  void authorize(const Credential& caller, std::uint32_t access);

  const FileHandle handle_;
  const Credential caller_;
  nfs4::stateid4 stateid_;
  bool writes_;
  bool preserve_unlinked_ = false;
  Phase phase_ = Phase::held;
  Trouble trouble_ = Trouble::none;
  std::uint64_t change_ = 0;       ///< of the file when it was granted
  std::uint64_t size_ = 0;         ///< bytes, likewise
  std::uint64_t written_end_ = 0;  ///< of the WRITEs under it whose bytes are still there
  std::uint32_t resizes_ = 0;
  std::uint64_t fileid_ = 0;  ///< of the file, for messages
  std::vector<Authorized> authorized_;
  mutable IntrusiveList<OpenFile> files_;  ///< that can use it
};

using DelegationRef = std::shared_ptr<Delegation>;

}  // namespace nfsrdma::client
