// The kernel's caches of a mount: the only place that decides what the kernel is told, for how
// long, and what it must drop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/file/attribute_cache.h"
#include "fuse/channel/answers.h"
#include "fuse/kernel/file.h"
#include "fuse/kernel/kernel_notifier.h"
#include "fuse/kernel/page_writer.h"
#include "fuse/kernel/revalidation_timer.h"
#include "fuse/kernel/size_revalidator.h"
#include "transport/base/metrics.h"

namespace nfsrdma::fuse {

struct KernelCachesConfig {
  /// Several users, and a kernel that does not check search permission: it lets every user pass the
  /// names that it remembers. So it must remember none, and the server checks each LOOKUP.
  bool names_of_each_user = false;
  std::string mount_point;     ///< as SizeRevalidator and PageWriter need it
  cache::FileSystemId root{};  ///< the mount's own: see to_stat()
};

/// One for each mount; belongs to its shard. The beliefs about each file are in its KernelView.
class KernelCaches final : public cache::InodeObserver {
 public:
  /// Both outlive this.
  KernelCaches(cache::AttributeCache& attributes, Reactor& reactor, KernelCachesConfig config);
  KernelCaches(const KernelCaches&) = delete;
  KernelCaches& operator=(const KernelCaches&) = delete;

  /// For orders; not needed for anything else.
  void attach(std::shared_ptr<KernelOrders> kernel) { notifier_.attach(std::move(kernel)); }
  /// Gives no order any more. Waits a bounded time for those in flight.
  Task<void> stop();
  void visit_counters(CounterVisitor& visitor) const;

  /// The kernel asks for attributes whenever it needs them, and drops pages itself when size or
  /// mtime differ (acregmin=0): no other order tells it of changes.
  bool auto_invalidates() const;

  /// The attributes for stat(2), and for how many seconds the kernel may show them.
  struct stat stat_of(const Inode& inode) const;
  double attribute_timeout(const Inode& inode) const;
  /// st_ino of a file, as stat_of() has it.
  std::uint64_t number_of(std::uint64_t fileid, const cache::FileSystemId& of) const;
  /// The answer to a lookup of this name. Notes that the kernel is told of it, as advertised()
  /// does. `longest`: the name may be believed no longer.
  EntryAnswer entry_of(Inode& inode, Inode& directory, std::string_view name,
                       Duration longest = Duration::max());
  /// The same for a name that is missing; with a timeout of 0 the kernel is not to remember it.
  EntryAnswer missing_entry(Inode& directory, std::string_view name);
  /// The same without a request, when the directory is known to have no such name. Empty: ask the
  /// server.
  std::optional<EntryAnswer> known_missing(Inode& directory, const client::Credential& caller,
                                           std::string_view name);
  /// The node that the kernel takes a name for, or 0 for missing; empty when the kernel was told
  /// nothing, or when that may be wrong by now.
  std::optional<std::uint64_t> advertised_node(Inode& directory, const std::string& name) const;
  /// A removal has been done or refused: the kernel then believes the name no more, or as before.
  /// When the outcome is not known, it is not known either where the name leads.
  void after_removal(Inode& directory, const std::string& name, bool done);
  /// The same for a rename: the kernel moves its belief from the old name to the new one.
  void after_rename(Inode& from, const std::string& name, Inode& to, const std::string& new_name,
                    bool done);
  /// The server knows this directory no longer: the kernel has to look up the names that lead to
  /// it, of whichever of these directories they are. Goes through all of them.
  void doubt_names_of(InodeTable& inodes, const Inode& gone);
  /// The kernel is being told the remembered attributes: pages of another version, which another
  /// client has written, are dropped.
  void advertised(Inode& inode, bool asked = true);
  /// The kernel asks for attributes that it was told to believe still: the server's are wanted.
  /// Under a delegation those that are known are the server's.
  bool must_ask(const Inode& inode) const;

  /// Invalidates the attributes that the kernel has cached: always, or only if they differ from
  /// ours.
  void drop_attributes(Inode& inode);
  void drop_outdated_attributes(Inode& inode);

  /// All that the kernel has of the file has to be asked for again: attributes and names at once,
  /// pages soon.
  void drop_all(Inode& inode);

  /// Whether the kernel may have pages of the file as it is, as far as is known: then it may not
  /// ask for their bytes.
  bool may_have_pages(const Inode& inode) const;
  /// Whether the kernel may have pages of another version than the remembered attributes are of,
  /// because another client has changed the file.
  bool pages_outdated(const Inode& inode) const;
  /// Drops them, before the kernel is told attributes of that version: a page that was cached when
  /// the file ended in it would show zeros behind that end. The kernel passes over the attributes
  /// of an answer that such an order overtakes, and asks for them when it needs them. Never from an
  /// operation that the kernel waits for with a page locked.
  Task<void> drop_outdated_pages(InodeRef inode);
  /// The same for OPEN and CREATE. The kernel would drop pages itself at an open that says so, but
  /// not before others may be told the size that does not go with them; where it looks at size and
  /// mtime by itself (acregmin=0) it is left to that.
  Task<void> drop_pages_before_open(InodeRef inode);
  /// The same for OPEN, and the kernel has no size behind which the file has ended: a program reads
  /// without asking for attributes, and a short READ corrects the size only as long as the answer
  /// to a later READ does not overtake it.
  Task<void> prepare_open(InodeRef inode);
  /// The answer to an open: whether the kernel keeps its pages. Close-to-open: it does if the
  /// change attribute is the one they belong to. Attributes that are out of date are dropped.
  bool keeps_pages_at_open(Inode& inode);

  /// Before the answer to a caller that must see the changes of others: pages of
  /// another version are dropped, and the kernel has the size. For an open file, and for those
  /// operations only for which SizeRevalidator is made.
  Task<void> show_changes(InodeRef inode);

  KernelNotifier& notifier() { return notifier_; }
  RevalidationTimer& revalidation_timer() { return revalidation_timer_; }
  SizeRevalidator& size_revalidator() { return size_revalidator_; }
  PageWriter& page_writer() { return page_writer_; }

 private:
  void on_own_change(cache::Inode& inode, std::uint64_t before, std::uint64_t after) override;
  void on_names_changed(cache::Inode& directory) override;
  void on_attributes_doubted(cache::Inode& inode) override;
  void on_changed_unseen(cache::Inode& inode) override;
  Task<void> write_stores(cache::InodeRef inode) override;
  void on_revalidated(Inode& inode);
  double name_timeout(const Inode& directory, bool remembered) const;
  EntryAnswer missing_for(Inode& directory, std::string_view name, double timeout);
  /// Notes that the kernel believes this answer about a name for `timeout` seconds.
  void note_advertised(Inode& directory, std::string_view name, double timeout,
                       AdvertisedNames::As as, std::uint64_t node);
  Task<void> drop_stale_pages(InodeRef inode);

  cache::AttributeCache& attributes_;
  const KernelCachesConfig config_;
  KernelNotifier notifier_;
  RevalidationTimer revalidation_timer_;
  SizeRevalidator size_revalidator_;
  PageWriter page_writer_;
};

}  // namespace nfsrdma::fuse
