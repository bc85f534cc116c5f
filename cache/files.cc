#include "cache/files.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/write/commit.h"
#include "client/files/open_files.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

/// Mapped pages can be written back after the last flush; a failure can then only be logged.
Task<void> flush_writes(WriteBack& writes, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  {
    // Writes that were answered early, because their caller was killed, still use the open.
    auto pass = co_await open->gate.enter(Gate::Mode::exclusive);
  }
  co_await commit_file(writes, file);
}

}  // namespace

Files::Files(client::Mount& mount, BufferPool& data_slots, AttributePolicy policy,
             InodeIndex& inodes, InodeObserver& observer, DataLimits limits)
    : mount_(mount),
      index_(inodes),
      observer_(observer),
      attributes_(mount, policy, inodes, observer),
      failures_(mount.config().server),
      writes_(mount, attributes_, failures_, data_slots, limits.dirty_ratio),
      reads_(mount, attributes_, data_slots, limits.read_ahead),
      silly_names_(mount, attributes_, inodes) {
  mount_.delegations().attach(this);
}

Files::~Files() { mount_.delegations().attach(nullptr); }

std::shared_ptr<OpenInode> Files::opened(Inode& inode, bool preserve_unlinked) {
  auto shared = inode.open();
  if (!shared) {
    shared = std::make_shared<OpenInode>(mount_.reactor(), writes_.memory());
    inode.set_open(shared);
  }
  shared->preserve_unlinked |= preserve_unlinked;
  shared->removal.reset();  // the silly name stays until this one is closed, too
  silly_names_.opened();
  return shared;
}

void Files::released(File& file) {
  file.released = true;
  ReadAhead::end(file);
  silly_names_.released();
}

Task<void> Files::close(FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  if (file->writable()) co_await flush_writes(writes_, file);
  // A READ that the server finds behind the CLOSE names a stateid that it has forgotten.
  if (file->ahead) co_await file->ahead->reading().wait();
  file->unlink();
  if (open->files.empty() && open->errors.unreported()) {
    log::warning("writes to inode {} failed after its last flush",
                 file->inode->attributes().value().fileid);
  }
  ++open->closes;
  auto closed = co_await mount_.opens().close(std::move(file->open));
  --open->closes;
  if (!closed) log::debug("close: {}", closed.error().message());
  co_await silly_names_.after_close(file->inode, open);
}

Files::Unfinished Files::unfinished() const {
  return {silly_names_.open_files(), writes_.memory().slots_uncommitted(),
          writes_.memory().bytes_copied(), writes_.behind().slots_used()};
}

void Files::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_open_files", silly_names_.open_files());
  attributes_.visit_counters(visitor);
  writes_.visit_counters(visitor);
  reads_.visit_counters(visitor);
  failures_.visit_counters(visitor);
}

Task<void> Files::flush(client::FileHandle handle) {
  const InodeRef inode = index_.find(handle);
  const auto open = inode ? inode->open() : nullptr;
  if (!open) co_return;
  co_await observer_.write_stores(inode);
  if (const FileRef writer = open->any_writer()) {
    co_await commit_file(writes_, writer);
  } else {
    co_await writes_.behind().flush(open);  // the last writer is closing the file, and commits it
  }
}

void Files::on_all_forgotten() {
  writes_.memory().on_all_forgotten();
  std::vector<std::shared_ptr<OpenInode>> files;
  writes_.uncommitted().for_each([&](OpenInode& open) {
    open.drop_read_ahead();  // read again, these bytes may be those of before the data
    if (const FileRef writer = open.any_writer()) files.push_back(writer->shared);
  });
  for (auto& open : files) spawn(restore_lost(writes_, std::move(open)));
}

void Files::on_delegation_ended(const client::FileHandle& handle) {
  const InodeRef inode = index_.find(handle);
  if (!inode) return;
  inode->attributes().expire();
  if (const auto open = inode->open()) open->drop_read_ahead();
  attributes_.doubt(*inode);
}

std::optional<Files::LocalAttributes> Files::local_attributes(const client::FileHandle& handle) {
  const InodeRef inode = index_.find(handle);
  const auto open = inode ? inode->open() : nullptr;
  const bool dirty = open && open->dirty();
  // Dirty data count even if the server has to be asked about the rest.
  if (!inode || !(inode->attributes().stands() || dirty)) return std::nullopt;
  const FileAttributes& known = inode->attributes().value();
  const std::uint64_t end = open ? open->dirty_end() : 0;
  return LocalAttributes{std::max(known.size, end), known.change, dirty};
}

}  // namespace nfsrdma::cache
