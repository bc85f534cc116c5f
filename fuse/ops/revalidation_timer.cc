#include "fuse/ops/revalidation_timer.h"

#include "client/requests/getattr.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

RevalidationTimer::RevalidationTimer(FileSystem& fs, Reactor& reactor, Duration interval)
    : fs_(fs), interval_(interval), timer_(reactor, [this] { on_time(); }) {}

void RevalidationTimer::add(const File& file) {
  if (interval_ == Duration::zero() || file.shared->watched.linked()) return;
  file.shared->watched.inode = file.inode;
  watched_.push_back(file.shared->watched);
  if (!timer_.armed()) timer_.arm(interval_);
}

void RevalidationTimer::on_time() {
  std::vector<FileRef> files = due();
  if (!files.empty()) {
    spawn(look(std::move(files)));
  } else if (!watched_.empty()) {
    timer_.arm(interval_);
  }
}

/// One open of each file whose attributes have timed out.
std::vector<FileRef> RevalidationTimer::due() {
  std::vector<FileRef> files;
  watched_.for_each([&](Watched& watched) {
    const auto open = watched.inode->open();
    if (open && !open->files.empty() && !fs_.fresh(*watched.inode)) {
      files.emplace_back(&open->files.front());
    }
  });
  return files;
}

Task<void> RevalidationTimer::look(std::vector<FileRef> files) {
  for (const FileRef& file : files) {
    Inode& inode = *file->inode;
    const cache::Issue issue = fs_.issue();
    auto attributes = co_await client::getattr(fs_.mount(), file->caller, inode.handle());
    looks_.add();
    if (!attributes) {
      file->shared->watched.unlink();
      continue;
    }
    const auto outcome = fs_.learn(inode, *attributes, issue, ChangedBy::anyone);
    if (outcome != cache::CachedAttributes::Outcome::changed) continue;
    fs_.notifier().drop_attributes(inode.id());
    if (inode.pages_stale(inode.attributes().value().change)) file->shared->watched.unlink();
    fs_.told(inode);
  }
  if (!watched_.empty() && !timer_.armed()) timer_.arm(interval_);
}

void RevalidationTimer::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_open_files_looked_at", looks_.value());
}

}  // namespace nfsrdma::fuse
