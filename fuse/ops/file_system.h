// The mounted file system: what every operation works on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/attr/cached_attributes.h"
#include "cache/data/uncommitted_memory.h"
#include "client/mount.h"
#include "client/state/delegation_table.h"
#include "fuse/channel/request.h"
#include "fuse/inode/file.h"
#include "fuse/inode/id_slab.h"
#include "fuse/inode/inode_table.h"
#include "fuse/ops/failure_log.h"
#include "fuse/ops/kernel_notifier.h"
#include "fuse/ops/revalidation_timer.h"
#include "fuse/ops/size_revalidator.h"
#include "fuse/ops/write_behind.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/sync/async_mutex.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::fuse {

struct FileSystemConfig {
  cache::AttributePolicy attributes;
  bool synchronous = false;  ///< the sync option: every write is durable before it is answered
  /// Several users, and a kernel that does not check whether one may search a directory: it lets
  /// him pass all names that it remembers, so it remembers none, and the server checks by LOOKUP.
  bool names_of_each_user = false;
  std::string mount_point;  ///< as SizeRevalidator needs it
};

/// How attributes came to differ from the remembered ones, as far as the asker knows.
struct ChangedBy {
  static const ChangedBy anyone;
  /// By the operation that brought them, which found the change attribute `before`: what the kernel
  /// has cached of that version is right.
  static ChangedBy us(std::optional<std::uint64_t> before) { return {before}; }

  std::optional<std::uint64_t> before;
};
inline constexpr ChangedBy ChangedBy::anyone{};

/// Owned by the daemon; belongs to the mount's shard. It is what operations() serve.
class FileSystem final : private client::DelegationUser {
 public:
  /// The mount has been started. `data_slots`: the pool that requests are received into; one slot
  /// is taken from it, no more than half of the rest keeps uncommitted data, and no more than a
  /// quarter gathers small writes. Both outlive the FileSystem.
  FileSystem(client::Mount& mount, BufferPool& data_slots, FileSystemConfig config);
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  ~FileSystem();

  /// For notifications; not needed for anything else. Before the first request.
  void attach(KernelChannel& channel) { notifier_.attach(channel); }
  /// Commits and closes what is still open, when no request comes any more. Before Mount::stop();
  /// the session may go afterwards.
  Task<void> finish();
  /// What finish() has still to do: it gets on as long as this changes.
  struct Unfinished {
    std::size_t files = 0;     ///< open
    std::size_t slots = 0;     ///< with data that is not durable
    std::size_t copied = 0;    ///< bytes of such data
    std::size_t gathered = 0;  ///< slots with data that was not sent, or not answered
    bool operator==(const Unfinished&) const = default;
    bool unsaved() const { return slots + copied + gathered > 0; }
  };
  Unfinished unfinished() const;
  void visit_counters(CounterVisitor& visitor) const;

  client::Mount& mount() { return mount_; }
  const FileSystemConfig& config() const { return config_; }
  InodeTable& inodes() { return inodes_; }
  cache::UncommittedMemory& uncommitted_memory() { return uncommitted_memory_; }
  KernelNotifier& notifier() { return notifier_; }
  WriteBehind& write_behind() { return write_behind_; }
  RevalidationTimer& revalidation_timer() { return revalidation_timer_; }
  /// The last closes of files with a silly name, from the arrival of RELEASE, or of the removal if
  /// that comes later, until the name is gone. The kernel does not wait for RELEASE: who closes a
  /// removed file and then removes its directory may be ahead.
  InFlightSet& silly_removals() { return silly_removals_; }
  SizeRevalidator& size_revalidator() { return size_revalidator_; }
  FailureLog& failures() { return failures_; }

  /// Marks the sending of a request whose answer has attributes.
  cache::Issue issue() { return clock_.issue(mount_.reactor().now()); }

  /// Takes in attributes; returns what came of it.
  cache::CachedAttributes::Outcome learn(Inode& inode, const client::Attributes& fresh,
                                         const cache::Issue& issue, ChangedBy by);
  /// The inode of something found, with its attributes; null when there are too many, or when the
  /// server did not say what it is.
  InodeRef adopt(const client::FileHandle& handle, const client::Attributes& attributes,
                 const cache::Issue& issue, ChangedBy by);
  /// Whether the attributes may be shown without asking the server.
  bool fresh(const Inode& inode) const;
  /// The attributes hold as long as the delegation of the file is not recalled.
  bool delegated(const Inode& inode) const;
  void count_attribute_hit() { attribute_hits_.add(); }
  /// The kernel asks for attributes whenever it needs them, and drops pages itself when size or
  /// mtime differ (acregmin=0): it is told of changes by nothing else.
  bool kernel_auto_invalidates() const;
  /// Has the kernel ask for attributes anew: in any case, or if it was told others.
  void drop_attributes(Inode& inode);
  void drop_outdated_attributes(Inode& inode);
  /// A name of some file changed here: its link count and change time differ, whichever it is.
  void names_changed(Inode& directory);

  /// What stat(2) shows, and for how many seconds the kernel may show it.
  struct stat stat_of(const Inode& inode) const;
  double attribute_timeout(const Inode& inode) const;
  /// For how many seconds the kernel may believe that a name is there, or is not.
  double entry_timeout(const Inode& directory) const;
  double negative_timeout(const Inode& directory) const;
  /// What a lookup of this name answers; told().
  EntryAnswer entry_of(Inode& inode, Inode& directory, std::string_view name);

  /// The kernel is being told the remembered attributes: pages of another version, which somebody
  /// else has written, are dropped.
  void told(Inode& inode, bool asked = true);
  /// Whether the kernel may have pages of another version than the remembered attributes are of,
  /// because of somebody else's change.
  bool pages_outdated(const Inode& inode) const;
  /// Drops them, before the kernel is told attributes of that version: a page that was cached when
  /// the file ended in it would show zeros behind that end. The kernel passes over the attributes
  /// of an answer that such an order overtakes, and asks for them when it needs them. Never from an
  /// operation that the kernel waits for with a page locked.
  Task<void> drop_outdated_pages(InodeRef inode);

  /// The kernel certainly has the size that stat(2) is shown.
  bool kernel_has_size(const Inode& inode) const;
  /// Before the answer to a caller who is entitled to see what others have changed: pages of
  /// another version are dropped, and the kernel has the size. For an open file, and for those
  /// operations only for which SizeRevalidator is made.
  Task<void> show_changes(InodeRef inode);

  /// Open files and directories, by the number the kernel has for them (fi->fh).
  FileRef add_file(InodeRef inode, client::OpenRef open, bool preserve_unlinked);
  FileRef find_file(std::uint64_t id);
  FileRef remove_file(std::uint64_t id);
  std::uint64_t add_directory(InodeRef inode);
  DirectoryRef find_directory(std::uint64_t id);
  void remove_directory(std::uint64_t id) { directories_.erase(id); }
  /// Some file that loses its name may be open or delegated: it has to be found first.
  bool may_matter_to_names() const { return files_.size() > 0 || mount_.delegations().any(); }
  std::vector<FileRef> open_files();

  /// Files with uncommitted data, longest first.
  IntrusiveList<OpenInode>& uncommitted() { return uncommitted_; }
  /// True for the first that asks, until relieved(): one early COMMIT run at a time.
  bool begin_relief() { return !std::exchange(relieving_, true); }
  void end_relief() { relieving_ = false; }

  /// Registered memory for sending lost data again, for whoever holds the mutex.
  AsyncMutex& resend_mutex() { return resend_mutex_; }
  std::span<std::byte> resend_memory() { return resend_slot_.bytes(); }

  /// A name for an open file whose last name goes: unique for this mount.
  std::string silly_name(const Inode& inode);

 private:
  Task<void> flush(client::FileHandle file) override;
  void on_delegation_ended(const client::FileHandle& file) override;
  std::optional<LocalAttributes> local_attributes(const client::FileHandle& file) override;
  std::uint64_t shown_size(const Inode& inode) const;
  void doubt_names(Inode& directory);
  Task<void> drop_stale_pages(InodeRef inode);

  client::Mount& mount_;
  FileSystemConfig config_;
  cache::IssueClock clock_;
  std::uint64_t names_changed_at_ = 0;
  KernelNotifier notifier_;
  Buffer resend_slot_;
  AsyncMutex resend_mutex_;
  cache::UncommittedMemory uncommitted_memory_;
  WriteBehind write_behind_;
  RevalidationTimer revalidation_timer_;
  InFlightSet silly_removals_;
  InodeTable inodes_;
  SizeRevalidator size_revalidator_;
  IntrusiveList<OpenInode> uncommitted_;
  IdSlab<FileRef> files_;
  IdSlab<DirectoryRef> directories_;
  cache::FileSystemId root_fsid_;
  std::uint32_t silly_names_ = 0;
  bool relieving_ = false;
  Counter attribute_hits_;
  FailureLog failures_;
};

}  // namespace nfsrdma::fuse
