#include "fuse/ops/file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "fuse/convert/attributes.h"
#include "fuse/ops/close_file.h"
#include "fuse/ops/commit.h"

namespace nfsrdma::fuse {
namespace {

using Outcome = cache::CachedAttributes::Outcome;

/// No more than half of the slots, so that requests and reads always find some.
cache::UncommittedMemory::Limits kept_limits(const BufferPool& data_slots) {
  cache::UncommittedMemory::Limits limits;
  limits.slots = data_slots.available() / 2;
  return limits;
}

std::size_t gather_slots(const BufferPool& data_slots) {
  return std::max<std::size_t>(data_slots.available() / 4, 1);
}

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

FileSystem::FileSystem(client::Mount& mount, BufferPool& data_slots, FileSystemConfig config)
    : mount_(mount),
      config_(std::move(config)),
      resend_slot_(data_slots.acquire()),
      resend_mutex_(mount.reactor()),
      uncommitted_memory_(mount.reactor(), kept_limits(data_slots)),
      write_behind_(*this, mount.reactor(), data_slots, gather_slots(data_slots)),
      revalidation_timer_(*this, mount.reactor(), config_.attributes.shortest(false)),
      silly_removals_(mount.reactor()),
      size_revalidator_(*this, mount.reactor(), config_.mount_point) {
  Inode& root = inodes_.make_root(mount.root());
  learn(root, mount.root_attributes(), issue(), ChangedBy::anyone);
  root_fsid_ = root.attributes().value().fsid;
  root.set_parent_fileid(root.attributes().value().fileid);
  mount_.delegations().attach(this);
}

FileSystem::~FileSystem() { mount_.delegations().attach(nullptr); }

Task<void> FileSystem::finish() {
  co_await size_revalidator_.stop();
  co_await notifier_.stop(mount_.reactor());
  for (const FileRef& file : open_files()) {
    remove_file(file->id);
    co_await close_file(*this, file);
  }
}

FileSystem::Unfinished FileSystem::unfinished() const {
  return {files_.size(), uncommitted_memory_.slots_uncommitted(),
          uncommitted_memory_.bytes_copied(), write_behind_.slots_used()};
}

Outcome FileSystem::learn(Inode& inode, const client::Attributes& fresh, const cache::Issue& issue,
                          ChangedBy by) {
  auto& known = inode.attributes();
  // Without a base, or without a change attribute to order by, a part of the attributes is no use.
  if (!fresh.has(nfs4::FATTR4_CHANGE) || (!known.known() && !describes_file(fresh))) {
    known.expire();
    return Outcome::older;
  }
  cache::FileAttributes whole = known.value();
  apply(fresh, whole);
  if (by.before) inode.follow_pages(*by.before, fresh.change);
  const Outcome outcome = known.store(whole, issue, clock_, config_.attributes);
  // Nobody, until the name service tells: to be asked again, delegation or not.
  if (outcome != Outcome::older && !owners_known(fresh)) known.expire();
  if (outcome == Outcome::changed && inode.is_directory()) doubt_names(inode);
  return outcome;
}

// After a change made here its change attribute is another one in any case, and what others have
// changed with it shows in a listing only.
void FileSystem::doubt_names(Inode& directory) {
  if (directory.changed_by_us() || !directory.names()) return;
  notifier_.doubt_names(directory, directory.names()->doubt_all());
}

void FileSystem::drop_outdated_attributes(Inode& inode) {
  // The kernel passes over the answer to a question that such a notice overtakes, and goes on with
  // what it had: no notice must come without need.
  if (kernel_auto_invalidates()) return;
  if (inode.kernel_knows_other_than(inode.attributes().value().change)) drop_attributes(inode);
}

void FileSystem::drop_attributes(Inode& inode) {
  notifier_.drop_attributes(inode.id());
  inode.kernel_forgot();
}

InodeRef FileSystem::adopt(const client::FileHandle& handle, const client::Attributes& attributes,
                           const cache::Issue& issue, ChangedBy by) {
  if (!describes_file(attributes)) return {};
  InodeRef inode = inodes_.obtain(handle, attributes.fileid, type_bits(attributes.type));
  if (inode) learn(*inode, attributes, issue, by);
  return inode;
}

bool FileSystem::fresh(const Inode& inode) const {
  const auto& attributes = inode.attributes();
  if (!attributes.newer_than(names_changed_at_)) return false;
  return attributes.remaining(mount_.reactor().now()) > Duration::zero() || delegated(inode);
}

void FileSystem::names_changed(Inode& directory) {
  directory.count_change();
  directory.attributes().expire();
  names_changed_at_ = clock_.last();
}

struct stat FileSystem::stat_of(const Inode& inode) const {
  struct stat result = to_stat(inode.attributes().value(), root_fsid_);
  // The silly name is ours alone: as far as programs can tell, the link is gone.
  const auto open = inode.open();
  if (open && open->silly && result.st_nlink > 0) --result.st_nlink;
  result.st_size = static_cast<off_t>(shown_size(inode));
  return result;
}

std::uint64_t FileSystem::shown_size(const Inode& inode) const {
  const std::uint64_t size = inode.attributes().value().size;
  const auto open = inode.open();
  return open && open->dirty() ? std::max(size, open->dirty_end()) : size;
}

// A recall tells the kernel before anybody else can change the file.
bool FileSystem::delegated(const Inode& inode) const {
  return inode.attributes().stands() && mount_.delegations().held(inode.handle());
}

double FileSystem::attribute_timeout(const Inode& inode) const {
  // Whoever wants to know the times of a file with gathered writes has them sent first.
  const auto open = inode.open();
  if (open && open->dirty()) return 0;
  constexpr Duration kWhileDelegated = std::chrono::hours(1);
  if (delegated(inode)) return seconds(kWhileDelegated);
  return seconds(inode.attributes().remaining(mount_.reactor().now()));
}

double FileSystem::entry_timeout(const Inode& directory) const {
  if (config_.attributes.lookup_cache == cache::LookupCache::none) return 0;
  if (config_.names_of_each_user) return 0;
  return seconds(directory.attributes().period());
}

double FileSystem::negative_timeout(const Inode& directory) const {
  if (config_.attributes.lookup_cache != cache::LookupCache::all) return 0;
  if (config_.names_of_each_user) return 0;
  return seconds(directory.attributes().period());
}

EntryAnswer FileSystem::entry_of(Inode& inode, Inode& directory, std::string_view name) {
  EntryAnswer entry;
  entry.node = inode.id();
  entry.attributes = stat_of(inode);
  entry.attribute_timeout = attribute_timeout(inode);
  entry.entry_timeout = entry_timeout(directory);
  if (entry.entry_timeout > 0) directory.tell_name(name, AdvertisedNames::As::there);
  told(inode, /*asked=*/false);
  return entry;
}

Task<void> FileSystem::flush(client::FileHandle handle) {
  const InodeRef inode = inodes_.find(handle);
  const auto open = inode ? inode->open() : nullptr;
  if (!open) co_return;
  if (const FileRef writer = any_writer(*open)) {
    co_await commit_file(*this, writer);
  } else {
    co_await write_behind_.flush(open);  // the last writer is closing the file, and commits it
  }
}

void FileSystem::on_delegation_ended(const client::FileHandle& handle) {
  const InodeRef inode = inodes_.find(handle);
  if (!inode) return;
  inode->attributes().expire();
  drop_attributes(*inode);
}

std::optional<FileSystem::LocalAttributes> FileSystem::local_attributes(
    const client::FileHandle& handle) {
  const InodeRef inode = inodes_.find(handle);
  if (!inode || !inode->attributes().stands()) return std::nullopt;
  const cache::FileAttributes& known = inode->attributes().value();
  const auto open = inode->open();
  const std::uint64_t end = open ? open->dirty_end() : 0;
  return LocalAttributes{std::max(known.size, end), known.change, open && open->dirty()};
}

void FileSystem::told(Inode& inode, bool asked) {
  const std::uint64_t change = inode.attributes().value().change;
  inode.told_kernel(change, asked);
  inode.kernel_told_size(shown_size(inode));
  if (pages_outdated(inode) && !inode.dropping_pages()) spawn(drop_stale_pages(&inode));
}

// An order to drop something keeps the kernel from taking in the attributes that others are asking
// for at that moment.
bool FileSystem::kernel_auto_invalidates() const {
  return config_.attributes.shortest(false) == Duration::zero();
}

bool FileSystem::pages_outdated(const Inode& inode) const {
  if (kernel_auto_invalidates()) return false;
  // While a write of ours is under way, a change is most likely its doing; its reply will tell.
  const auto open = inode.open();
  const bool writing = open && open->gate.shared();
  return !writing && inode.pages_stale(inode.attributes().value().change);
}

Task<void> FileSystem::drop_outdated_pages(InodeRef inode) {
  do {
    const std::uint64_t change = inode->attributes().value().change;
    co_await notifier_.drop_pages_now(mount_.reactor(), inode);
    if (inode->pages_stale(change)) inode->set_pages(change);
  } while (pages_outdated(*inode));
}

Task<void> FileSystem::drop_stale_pages(InodeRef inode) {
  const std::uint64_t change = inode->attributes().value().change;
  inode->set_dropping_pages(true);
  co_await notifier_.drop_pages_now(mount_.reactor(), inode);
  inode->set_dropping_pages(false);
  // Pages that are read from now on are of this version, or of a later one.
  if (inode->pages_stale(change)) inode->set_pages(change);
}

bool FileSystem::kernel_has_size(const Inode& inode) const {
  return inode.kernel_size() == shown_size(inode);
}

Task<void> FileSystem::show_changes(InodeRef inode) {
  const std::shared_ptr<OpenInode> open = inode->open();
  if (!open) co_return;
  // One after the other: an order to drop pages would keep the kernel from taking in the size.
  auto guard = co_await open->showing.lock();
  const std::uint64_t change = inode->attributes().value().change;
  // First the pages, so that what fills up the last one behind the old end is not taken for data.
  if (!inode->pages_match(change)) {
    co_await notifier_.drop_pages_now(mount_.reactor(), inode);
    inode->set_pages(change);
  }
  if (!kernel_has_size(*inode)) co_await size_revalidator_.tell(inode);
}

FileRef FileSystem::add_file(InodeRef inode, client::OpenRef open, bool preserve_unlinked) {
  auto shared = inode->open();
  if (!shared) {
    shared = std::make_shared<OpenInode>(mount_.reactor(), uncommitted_memory_);
    inode->set_open(shared);
  }
  shared->preserve_unlinked |= preserve_unlinked;
  shared->removal.reset();  // the silly name stays until this one is closed, too
  FileRef file(new File(std::move(inode), std::move(shared), std::move(open)));
  file->id = files_.id_of_next();
  files_.emplace(file);
  return file;
}

std::vector<FileRef> FileSystem::open_files() {
  std::vector<FileRef> files;
  files_.for_each([&](FileRef& file) { files.push_back(file); });
  return files;
}

FileRef FileSystem::find_file(std::uint64_t id) {
  FileRef* file = files_.find(id);
  if (!file) return {};
  // Whoever uses the file has been through the kernel's part of open(2).
  (*file)->confirm_drop();
  return *file;
}

FileRef FileSystem::remove_file(std::uint64_t id) {
  FileRef file = find_file(id);
  if (file) file->released = true;
  files_.erase(id);
  return file;
}

std::uint64_t FileSystem::add_directory(InodeRef inode) {
  const std::uint64_t id = directories_.id_of_next();
  directories_.emplace(new Directory(mount_.reactor(), std::move(inode)));
  return id;
}

DirectoryRef FileSystem::find_directory(std::uint64_t id) {
  DirectoryRef* directory = directories_.find(id);
  return directory ? *directory : DirectoryRef();
}

std::string FileSystem::silly_name(const Inode& inode) {
  return fmt::format(".nfs{:016x}{:08x}", inode.attributes().value().fileid, ++silly_names_);
}

void FileSystem::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_inodes", inodes_.size());
  visitor.visit("fs_open_files", files_.size());
  visitor.visit("fs_attribute_hits", attribute_hits_.value());
  visitor.visit("fs_notifications", notifier_.notifications());
  visitor.visit("fs_names_doubted", notifier_.names_doubted());
  visitor.visit("fs_size_looks", size_revalidator_.looks());
  visitor.visit("fs_drops_given_up", notifier_.given_up());
  uncommitted_memory_.visit_counters(visitor);
  write_behind_.visit_counters(visitor);
  revalidation_timer_.visit_counters(visitor);
  failures_.visit_counters(visitor);
}

}  // namespace nfsrdma::fuse
