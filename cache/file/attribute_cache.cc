#include "cache/file/attribute_cache.h"

#include <algorithm>
#include <cerrno>

#include "cache/attr/from_server.h"
#include "client/files/delegations.h"
#include "client/requests/getattr.h"
#include "client/session/session.h"

namespace nfsrdma::cache {
namespace {

/// Most names kept of listed directories: 8 bytes for each.
constexpr std::size_t kMostListedNames = std::size_t{1} << 20;
constexpr std::size_t kMostListedDirectories = std::size_t{1} << 14;
/// The slowest clock that a server makes change attributes of.
constexpr Duration kSlowestClock = std::chrono::seconds(2);
/// How long an absence that was not asked for is used: see AttributeCache::lacks().
constexpr int kRoundTrips = 3;
constexpr Duration kLeastMoment = std::chrono::microseconds(1);

}  // namespace

AttributeCache::Outcome AttributeCache::learn(Inode& inode, const client::Attributes& fresh,
                                              const Issue& issue, ChangedBy by) {
  CachedAttributes& known = inode.attributes();
  // Without a base, or without a change attribute to order by, a part of the attributes is no use.
  if (!fresh.has(nfs4::FATTR4_CHANGE) || (!known.known() && !describes_file(fresh))) {
    known.expire();
    return Outcome::older;
  }
  FileAttributes whole = known.value();
  const std::uint64_t change = whole.change;
  const bool known_before = known.known();
  apply(fresh, whole);
  if (const auto delegation = mount_.delegations().held(inode.handle())) {
    whole.size = std::max(whole.size, delegation->least_size());
  }
  if (by.before) observer_.on_own_change(inode, *by.before, fresh.change);
  const bool of_data = by.before && !describes_file(fresh);
  const Outcome outcome = of_data ? known.store_data(whole, issue, clock_, policy_)
                                  : known.store(whole, issue, clock_, policy_);
  if (outcome == Outcome::changed) known.seen(mount_.reactor().now());
  // Another client may have written. Our own writes drop their bytes themselves.
  if (outcome == Outcome::changed && by.before != change) {
    if (const auto open = inode.open()) open->drop_read_ahead();
  }
  // Only the size has told: without this, programs read zeros behind the end that the file had.
  const bool unseen = outcome == Outcome::changed && known_before && fresh.change == change;
  if (unseen && !by.before) observer_.on_changed_unseen(inode);
  ListedNames* const names = inode.listed();
  if (outcome != Outcome::older && names && !names->shown(fresh.change, issue.at)) {
    inode.set_listed(nullptr);
  }
  // The owner is shown as nobody until the name service answers, so expire even under a delegation.
  if (outcome != Outcome::older && !owners_known(fresh)) known.expire();
  // Otherwise programs would find names that others have removed, and miss names that they have
  // made, for as long as names are believed.
  if (outcome == Outcome::changed && inode.is_directory() &&
      inode.changed_by_others(fresh.change)) {
    observer_.on_names_changed(inode);
  }
  return outcome;
}

Result<InodeRef> AttributeCache::adopt(const client::FileHandle& handle,
                                       const client::Attributes& attributes, const Issue& issue) {
  InodeRef inode;
  if (describes_file(attributes)) {
    inode = inodes_.obtain(handle, attributes.fileid, type_bits(attributes.type));
  } else {
    // NFS-Ganesha 9 tells no more of a file that is delegated for writing.
    inode = inodes_.find(handle);
    if (inode && !inode->attributes().known()) inode.reset();
  }
  if (!inode) {
    return fail(Error::local(EIO, "file attributes",
                             "the server does not say what it is, or there are too many inodes"));
  }
  learn(*inode, attributes, issue, ChangedBy::anyone);
  return inode;
}

Task<Result<AttributeCache::Outcome>> AttributeCache::revalidate(InodeRef inode,
                                                                 client::Credential caller) {
  const Issue asked = issue();
  auto attributes = co_await client::getattr(mount_, caller, inode->handle());
  CO_TRY(attributes);
  co_return learn(*inode, *attributes, asked, ChangedBy::anyone);
}

bool AttributeCache::fresh(const Inode& inode) const {
  if (!inode.attributes().newer_than(names_changed_at_)) return false;
  return remaining(inode) > Duration::zero() || delegated(inode);
}

// A recall tells before another client can change the file.
bool AttributeCache::delegated(const Inode& inode) const {
  return inode.attributes().stands() && mount_.delegations().held(inode.handle());
}

void AttributeCache::names_changed(Inode& directory, const client::NameChange& change,
                                   std::string_view made) {
  file_made(directory, change, made);
  names_changed_at_ = clock_.last();
}

void AttributeCache::file_made(Inode& directory, const client::NameChange& change,
                               std::string_view made, TimePoint sent) {
  directory.count_change(change);
  if (ListedNames* const names = directory.listed()) {
    names->changed_here(change, sent);
    if (!made.empty()) names->add(made);
  }
  outdate(directory);
}

void AttributeCache::listed(Inode& directory, std::unique_ptr<ListedNames> names,
                            std::uint64_t change, TimePoint begun, const Issue& issue) {
  const CachedAttributes& known = directory.attributes();
  const bool outdated =
      known.stands() && known.newer_than(issue.order) && known.value().change != change;
  if (outdated) return;
  const bool lasting =
      known.known() && known.value().change == change && known.seen_at() + kSlowestClock <= begun;
  names->complete(change, issue.at, lasting);
  listed_.push_back(*names);
  directory.set_listed(std::move(names));
  while (listed_total_->names > kMostListedNames ||
         listed_total_->directories > kMostListedDirectories) {
    ListedNames* const oldest = listed_.pop_front();
    if (!oldest) break;
    oldest->forget();
  }
}

bool AttributeCache::lacks(const Inode& directory, const client::Credential& caller,
                           std::string_view name) {
  ListedNames* const names = directory.listed();
  if (!names || policy_.lookup_cache != LookupCache::all) return false;
  if (directory.attributes().period() == Duration::zero()) return false;
  const Duration moment =
      std::max(kLeastMoment, kRoundTrips * mount_.session().trace().shortest_round_trip());
  if (names->remaining(mount_.reactor().now(), moment) <= Duration::zero()) return false;
  if (!names->lacks(name, caller.uid)) return false;
  known_missing_.add();
  return true;
}

void AttributeCache::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_directory_pages_ahead", pages_ahead_.value());
  visitor.visit("cache_names_known_missing", known_missing_.value());
  visitor.visit("cache_listed_directories", listed_total_->directories);
  visitor.visit("cache_listed_names", listed_total_->names);
}

}  // namespace nfsrdma::cache
