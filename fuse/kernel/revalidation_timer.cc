#include "fuse/kernel/revalidation_timer.h"

namespace nfsrdma::fuse {

RevalidationTimer::RevalidationTimer(cache::AttributeCache& attributes, Reactor& reactor,
                                     std::function<void(Inode&)> changed)
    : attributes_(attributes),
      changed_(std::move(changed)),
      interval_(attributes.policy().shortest(false)),
      timer_(reactor, [this] { on_timer(); }) {}

void RevalidationTimer::add(const File& file) {
  Watched& watched = file.seen->watched;
  if (interval_ == Duration::zero() || watched.linked()) return;
  if (!file.node().view().pages().any(PageRange::all())) return;
  watched.inode = &file.node();
  watched_.push_back(watched);
  if (!timer_.armed()) timer_.arm(interval_);
}

void RevalidationTimer::on_timer() {
  std::vector<cache::FileRef> files = due();
  if (!files.empty()) {
    spawn(look(std::move(files)));
  } else if (!watched_.empty()) {
    timer_.arm(interval_);
  }
}

/// What is being dropped is looked at afterwards.
bool RevalidationTimer::pages_outdated(const Inode& inode) {
  return !inode.view().dropping_pages() && inode.pages_outdated();
}

/// One open of each file whose attributes have timed out, or whose pages are known to be outdated:
/// a write of this mount finds that, too, and keeps the attributes fresh.
std::vector<cache::FileRef> RevalidationTimer::due() {
  std::vector<cache::FileRef> files;
  watched_.for_each([&](Watched& watched) {
    const auto open = watched.inode->open();
    if (!open || open->files.empty()) return;
    const bool unsure =
        !attributes_.fresh(*watched.inode) || pages_outdated(with_view(*watched.inode));
    if (unsure) files.emplace_back(&open->files.front());
  });
  return files;
}

Task<void> RevalidationTimer::look(std::vector<cache::FileRef> files) {
  for (const cache::FileRef& file : files) {
    Inode& inode = with_view(*file->inode);
    bool changed = false;
    if (!attributes_.fresh(inode)) {
      auto outcome = co_await attributes_.revalidate(file);
      looks_.add();
      if (!outcome) continue;  // the next look asks again
      changed = *outcome == cache::CachedAttributes::Outcome::changed;
    }
    const bool outdated = pages_outdated(inode);
    const auto seen = inode.view().open();
    if (seen && outdated) seen->watched.unlink();
    if (changed || outdated) changed_(inode);
  }
  if (!watched_.empty() && !timer_.armed()) timer_.arm(interval_);
}

void RevalidationTimer::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_open_files_looked_at", looks_.value());
}

}  // namespace nfsrdma::fuse
