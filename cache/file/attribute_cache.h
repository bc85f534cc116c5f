// Attributes of all files of a mount: taken in from replies, believed for a while.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "cache/attr/cached_attributes.h"
#include "cache/file/file.h"
#include "cache/file/inode_index.h"
#include "cache/file/inode_observer.h"
#include "client/mount.h"
#include "transport/base/metrics.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::cache {

/// How attributes came to differ from the remembered ones, as far as the asker knows.
struct ChangedBy {
  static const ChangedBy anyone;
  /// By the operation that brought the attributes, which found the change attribute `before`:
  /// cached pages of that version are right.
  static ChangedBy us(std::optional<std::uint64_t> before) { return {before}; }

  std::optional<std::uint64_t> before;
};
inline constexpr ChangedBy ChangedBy::anyone{};

/// One for each mount; belongs to its shard.
class AttributeCache {
 public:
  using Outcome = CachedAttributes::Outcome;

  /// All outlive this; `observer` may be constructed later.
  AttributeCache(client::Mount& mount, AttributePolicy policy, InodeIndex& inodes,
                 InodeObserver& observer)
      : mount_(mount),
        policy_(policy),
        inodes_(inodes),
        observer_(observer),
        asked_ahead_(mount.reactor()) {}
  AttributeCache(const AttributeCache&) = delete;
  AttributeCache& operator=(const AttributeCache&) = delete;

  client::Mount& mount() { return mount_; }
  const AttributePolicy& policy() const { return policy_; }
  /// Marks the sending of a request whose answer has attributes.
  Issue issue() { return clock_.issue(mount_.reactor().now()); }
  /// Takes in attributes; returns what came of it.
  Outcome learn(Inode& inode, const client::Attributes& fresh, const Issue& issue, ChangedBy by);
  /// The inode of a file that was found or made, with its attributes. An error when there are too
  /// many inodes, or when the server did not tell the type of a new one.
  Result<InodeRef> adopt(const client::FileHandle& handle, const client::Attributes& attributes,
                         const Issue& issue);
  /// Asks the server.
  Task<Result<Outcome>> revalidate(InodeRef inode, client::Credential caller);
  /// The same, with the credential of the opener.
  Task<Result<Outcome>> revalidate(const FileRef& file) {
    return revalidate(file->inode, file->caller);
  }

  /// How much longer the attributes may be used without asking; zero when not at all.
  Duration remaining(const Inode& inode) const {
    return inode.attributes().remaining(mount_.reactor().now());
  }
  /// The same of the size and what else a reply to WRITE tells.
  Duration data_remaining(const Inode& inode) const {
    return inode.attributes().data_remaining(mount_.reactor().now());
  }
  /// An own change has made the attributes wrong, also those that have been asked for already.
  void outdate(Inode& inode) { inode.attributes().expire_answers(clock_.last()); }
  /// Whether the attributes may be shown without asking the server.
  bool fresh(const Inode& inode) const;
  /// The attributes hold as long as the delegation of the file is not recalled.
  bool delegated(const Inode& inode) const;

  /// A name of some file changed here: its link count and change time differ, whichever it is.
  /// `made`: the name that is there now, if there is one.
  void names_changed(Inode& directory, const client::NameChange& change,
                     std::string_view made = {});
  /// The same of a name whose file is new, by a request sent at `sent`: no other file differs but
  /// the directory.
  void file_made(Inode& directory, const client::NameChange& change, std::string_view name,
                 TimePoint sent = {});
  /// Whether the names that were listed are still those of the directory is not known: an operation
  /// that would have made one has failed.
  void names_unsure(Inode& directory) { directory.set_listed(nullptr); }

  /// Shared by all ListedNames.
  const std::shared_ptr<ListedTotal>& listed_total() const { return listed_total_; }
  /// These are all names that the directory had in version `change`, by answers to requests of
  /// which the first was sent at `begun`, and the last was `issue`.
  void listed(Inode& directory, std::unique_ptr<ListedNames> names, std::uint64_t change,
              TimePoint begun, const Issue& issue);
  /// Whether `caller` may be answered from the cache that the directory has no such name. It
  /// follows from what was listed or made here, and nobody has asked for the name: that is used for
  /// three of the mount's shortest round trips, in which another client hardly makes a file, closes
  /// it and has this one's caller know of it; and no longer than ListedNames::kLongest.
  bool lacks(const Inode& directory, const client::Credential& caller, std::string_view name);
  /// The attributes must be fetched again, also by the kernel that has cached them.
  void doubt(Inode& inode) { observer_.on_attributes_doubted(inode); }

  /// The server does not have data that were written here, and the kernel's pages do.
  void doubt_data(Inode& inode) {
    inode.attributes().expire();
    observer_.on_changed_unseen(inode);
  }

  /// Requests sent before their answer is needed; the end of the mount waits for them.
  InFlightSet& asked_ahead() { return asked_ahead_; }
  void count_page_ahead() { pages_ahead_.add(); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  client::Mount& mount_;
  const AttributePolicy policy_;
  InodeIndex& inodes_;
  InodeObserver& observer_;
  IssueClock clock_;
  std::uint64_t names_changed_at_ = 0;
  std::shared_ptr<ListedTotal> listed_total_ = std::make_shared<ListedTotal>();
  IntrusiveList<ListedNames> listed_;  ///< least recently listed first
  InFlightSet asked_ahead_;
  Counter known_missing_;
  Counter pages_ahead_;
};

}  // namespace nfsrdma::cache
