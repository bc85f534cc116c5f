#include "fuse/kernel/kernel_caches.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "fuse/convert/attributes.h"

namespace nfsrdma::fuse {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::uint64_t version(const Inode& inode) { return inode.attributes().value().change; }

}  // namespace

KernelCaches::KernelCaches(cache::AttributeCache& attributes, Reactor& reactor,
                           KernelCachesConfig config)
    : attributes_(attributes),
      config_(std::move(config)),
      notifier_(reactor),
      revalidation_timer_(attributes, reactor, [this](Inode& inode) { on_revalidated(inode); }),
      size_revalidator_(reactor, config_.mount_point),
      page_writer_(reactor, notifier_, config_.mount_point) {}

Task<void> KernelCaches::stop() {
  co_await size_revalidator_.stop();
  co_await page_writer_.stop();
  co_await notifier_.stop();
}

// The kernel asks before each use then. An order to drop something would only keep it from taking
// in the attributes that it has just asked for.
bool KernelCaches::auto_invalidates() const {
  return attributes_.policy().shortest(false) == Duration::zero();
}

struct stat KernelCaches::stat_of(const Inode& inode) const {
  struct stat result = to_stat(inode.attributes().value(), config_.root);
  // The silly name is ours alone: as far as programs can tell, the link is gone.
  const auto open = inode.open();
  if (open && open->silly && result.st_nlink > 0) --result.st_nlink;
  result.st_size = static_cast<off_t>(inode.size());
  return result;
}

std::uint64_t KernelCaches::number_of(std::uint64_t fileid, const cache::FileSystemId& of) const {
  return inode_number(fileid, of, config_.root);
}

double KernelCaches::attribute_timeout(const Inode& inode) const {
  // The kernel must ask each time: GETATTR sends dirty data first, because WRITE sets the times.
  const auto open = inode.open();
  if (open && open->dirty()) return 0;
  constexpr Duration kWhileDelegated = std::chrono::hours(1);
  if (attributes_.delegated(inode)) return seconds(kWhileDelegated);
  return seconds(attributes_.remaining(inode));
}

double KernelCaches::name_timeout(const Inode& directory, bool remembered) const {
  if (!remembered || config_.names_of_each_user) return 0;
  return seconds(directory.attributes().period());
}

EntryAnswer KernelCaches::entry_of(Inode& inode, Inode& directory, std::string_view name,
                                   Duration longest) {
  EntryAnswer entry;
  entry.node = inode.id();
  entry.attributes = stat_of(inode);
  entry.attribute_timeout = attribute_timeout(inode);
  const auto remembered = attributes_.policy().lookup_cache;
  const double timeout = name_timeout(directory, remembered != cache::LookupCache::none);
  entry.entry_timeout = std::min(timeout, seconds(longest));
  note_advertised(directory, name, entry.entry_timeout, AdvertisedNames::As::there, entry.node);
  if (entry.entry_timeout > 0) {
    inode.led_by(&directory, name);
  } else {
    inode.forget_name();
  }
  advertised(inode, /*asked=*/false);
  return entry;
}

EntryAnswer KernelCaches::missing_for(Inode& directory, std::string_view name, double timeout) {
  EntryAnswer entry;
  // An older kernel goes on taking a name for missing when EEXIST was the answer to making it: a
  // program that then removes it at once would get ENOENT.
  if (!notifier_.kernel_doubts_refuted_names()) return entry;
  entry.entry_timeout = timeout;
  note_advertised(directory, name, timeout, AdvertisedNames::As::missing, 0);
  return entry;
}

void KernelCaches::note_advertised(Inode& directory, std::string_view name, double timeout,
                                   AdvertisedNames::As as, std::uint64_t node) {
  KernelView& view = directory.view();
  if (timeout > 0) {
    view.advertise_name(name, as, node);
  } else if (view.names()) {
    view.names()->forget(std::string(name));
  }
}

std::optional<std::uint64_t> KernelCaches::advertised_node(Inode& directory,
                                                           const std::string& name) const {
  const AdvertisedNames* const names = directory.view().names();
  return names ? names->node(name) : std::nullopt;
}

void KernelCaches::after_removal(Inode& directory, const std::string& name, bool done) {
  AdvertisedNames* const names = directory.view().names();
  if (!names) return;
  done ? names->forget(name) : names->unsure(name);
}

void KernelCaches::after_rename(Inode& from, const std::string& name, Inode& to,
                                const std::string& new_name, bool done) {
  const auto node = done ? advertised_node(from, name) : std::nullopt;
  after_removal(from, name, done);
  after_removal(to, new_name, done);
  if (node && *node != 0) to.view().advertise_name(new_name, AdvertisedNames::As::there, *node);
}

EntryAnswer KernelCaches::missing_entry(Inode& directory, std::string_view name) {
  const auto remembered = attributes_.policy().lookup_cache;
  return missing_for(directory, name,
                     name_timeout(directory, remembered == cache::LookupCache::all));
}

std::optional<EntryAnswer> KernelCaches::known_missing(Inode& directory,
                                                       const client::Credential& caller,
                                                       std::string_view name) {
  if (config_.names_of_each_user) return std::nullopt;
  if (!attributes_.lacks(directory, caller, name)) return std::nullopt;
  // The kernel counts in its own ticks, which are longer than a few round trips.
  return missing_for(directory, name, 0);
}

void KernelCaches::advertised(Inode& inode, bool asked) {
  inode.view().advertised(version(inode), asked);
  inode.view().advertised_size(inode.size());
  const std::chrono::duration<double> believed(attribute_timeout(inode));
  inode.view().told_until(attributes_.mount().reactor().now() +
                          std::chrono::duration_cast<Duration>(believed));
  if (pages_outdated(inode) && !inode.view().dropping_pages()) spawn(drop_stale_pages(&inode));
}

bool KernelCaches::must_ask(const Inode& inode) const {
  return inode.view().asks_early(attributes_.mount().reactor().now()) &&
         !attributes_.delegated(inode);
}

void KernelCaches::drop_attributes(Inode& inode) {
  notifier_.drop_attributes(inode.id());
  inode.view().forgot_attributes();
}

void KernelCaches::drop_outdated_attributes(Inode& inode) {
  // The kernel ignores an answer that such a notice overtakes, and goes on with its old attributes:
  // never send a notice without need.
  if (auto_invalidates()) return;
  if (inode.view().knows_other_than(version(inode))) drop_attributes(inode);
}

void KernelCaches::drop_all(Inode& inode) {
  drop_attributes(inode);
  on_names_changed(inode);
  if (inode.view().pages().any(PageRange::all())) spawn(notifier_.drop_pages_now(&inode));
}

bool KernelCaches::may_have_pages(const Inode& inode) const {
  const KernelView& view = inode.view();
  return view.pages_match(version(inode)) && view.pages().any({0, inode.size()});
}

bool KernelCaches::pages_outdated(const Inode& inode) const {
  return !auto_invalidates() && inode.pages_outdated();
}

Task<void> KernelCaches::drop_outdated_pages(InodeRef inode) {
  do {
    const std::uint64_t change = version(*inode);
    const std::uint32_t doubts = inode->view().doubts();
    co_await notifier_.drop_pages_now(inode);
    if (inode->view().pages_stale(change)) inode->view().set_pages(change, doubts);
  } while (pages_outdated(*inode));
}

Task<void> KernelCaches::drop_stale_pages(InodeRef inode) {
  const std::uint64_t change = version(*inode);
  const std::uint32_t doubts = inode->view().doubts();
  inode->view().set_dropping_pages(true);
  co_await notifier_.drop_pages_now(inode);
  inode->view().set_dropping_pages(false);
  // Pages that are read from now on are of this version, or of a later one.
  if (inode->view().pages_stale(change)) inode->view().set_pages(change, doubts);
}

Task<void> KernelCaches::drop_pages_before_open(InodeRef inode) {
  if (auto_invalidates() || !inode->view().pages_stale(version(*inode))) co_return;
  co_await drop_outdated_pages(std::move(inode));
}

Task<void> KernelCaches::prepare_open(InodeRef inode) {
  co_await drop_pages_before_open(inode);
  // While another opener writes, the kernel ignores the size in the answer to this one.
  if (inode->open()) {
    if (!inode->size_is_shown()) co_await show_changes(inode);
  } else if (inode->size_is_too_large()) {
    co_await size_revalidator_.tell(inode);
  }
}

bool KernelCaches::keeps_pages_at_open(Inode& inode) {
  const std::uint64_t change = version(inode);
  const bool keeps = inode.view().pages_match(change) && !inode.view().drops_unconfirmed();
  inode.view().set_pages(change);
  drop_outdated_attributes(inode);
  return keeps;
}

Task<void> KernelCaches::show_changes(InodeRef inode) {
  const std::shared_ptr<OpenView> open = inode->view().open();
  if (!open) co_return;
  // One after the other: an order to drop pages would keep the kernel from taking in the size.
  auto guard = co_await open->showing.lock();
  const std::uint64_t change = version(*inode);
  // First the pages, so that what fills up the last one behind the old end is not taken for data.
  if (!inode->view().pages_match(change)) {
    const std::uint32_t doubts = inode->view().doubts();
    co_await notifier_.drop_pages_now(inode);
    inode->view().set_pages(change, doubts);
  }
  if (!inode->size_is_shown()) co_await size_revalidator_.tell(inode);
  // Another request may have learned of a further change meanwhile: the caller is shown that one.
  if (pages_outdated(*inode)) co_await drop_outdated_pages(inode);
}

void KernelCaches::on_own_change(cache::Inode& inode, std::uint64_t before, std::uint64_t after) {
  with_view(inode).view().follow_pages(before, after);
}

void KernelCaches::on_names_changed(cache::Inode& directory) {
  Inode& inode = with_view(directory);
  if (inode.view().names()) notifier_.doubt_names(inode, inode.view().names()->doubt_all());
}

void KernelCaches::doubt_names_of(InodeTable& inodes, const Inode& gone) {
  inodes.for_each([&](Inode& directory) {
    AdvertisedNames* const names = directory.view().names();
    if (names) notifier_.doubt_names(directory, names->doubt(gone.id()));
  });
}

void KernelCaches::on_attributes_doubted(cache::Inode& inode) { drop_attributes(with_view(inode)); }

void KernelCaches::on_changed_unseen(cache::Inode& inode) {
  Inode& node = with_view(inode);
  node.view().doubt_pages();
  // It was told the old size for a time that depends on the change attribute.
  if (!auto_invalidates()) drop_attributes(node);
}

Task<void> KernelCaches::write_stores(cache::InodeRef inode) {
  return page_writer_.write_unless_truncating(&with_view(*inode));
}

void KernelCaches::on_revalidated(Inode& inode) {
  notifier_.drop_attributes(inode.id());
  advertised(inode);
  inode.view().asks_again();
}

void KernelCaches::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_notifications", notifier_.notifications());
  visitor.visit("fs_names_doubted", notifier_.names_doubted());
  visitor.visit("fs_size_looks", size_revalidator_.looks());
  visitor.visit("fs_page_writer_orders", page_writer_.orders());
  visitor.visit("fs_drops_given_up", notifier_.given_up());
  revalidation_timer_.visit_counters(visitor);
}

}  // namespace nfsrdma::fuse
