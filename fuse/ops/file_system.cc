#include "fuse/ops/file_system.h"

#include <utility>
#include <vector>

#include "cache/attr/from_server.h"
#include "transport/base/sync/task_group.h"

namespace nfsrdma::fuse {
namespace {

KernelCachesConfig kernel_config(KernelCachesConfig config, const client::Attributes& root) {
  cache::FileAttributes known;
  cache::apply(root, known);
  config.root = known.fsid;
  return config;
}

}  // namespace

FileSystem::FileSystem(client::Mount& mount, BufferPool& data_slots, FileSystemConfig config)
    : config_(std::move(config)),
      files_(mount, data_slots, config_.attributes, inodes_, kernel_, config_.data),
      kernel_(files_.attributes(), mount.reactor(),
              kernel_config(config_.kernel, mount.root_attributes())),
      inode_limit_(inodes_, kernel_.notifier(), mount.reactor(), config_.most_inodes) {
  cache::Inode& root = inodes_.make_root(mount.root());
  attributes().learn(root, mount.root_attributes(), attributes().issue(), cache::ChangedBy::anyone);
  root.found_in(root);
}

Task<void> FileSystem::finish() {
  co_await kernel_.stop();
  std::vector<FileRef> open;
  open_files_.for_each([&](FileRef& file) { open.push_back(file); });
  TaskGroup closing(mount().reactor());  // one that the server does not answer delays no other
  for (const FileRef& file : open) {
    remove_file(file->id);
    closing.start(files_.close(file));
  }
  co_await closing.empty();
  co_await attributes().asked_ahead().wait();
}

std::size_t FileSystem::drop_caches() {
  std::size_t files = 0;
  inodes_.for_each([&](Inode& inode) {
    if (attributes().delegated(inode)) return;
    inode.attributes().expire();
    attributes().names_unsure(inode);
    if (const auto open = inode.open()) open->drop_read_ahead();
    kernel_.drop_all(inode);
    ++files;
  });
  return files;
}

cache::Place FileSystem::place_of(const InodeRef& directory, std::string name) {
  cache::Place place{directory, std::move(name)};
  const auto node = kernel_.advertised_node(*directory, place.name);
  if (!node) return place;
  const InodeRef inode = *node == 0 ? InodeRef() : inodes_.find(*node);
  if (*node == 0 || inode) place.leads_to = inode;
  return place;
}

FileRef FileSystem::add_file(cache::Opened opened) {
  InodeRef inode = with_view(opened.inode);
  auto shared = files_.opened(*inode, opened.preserve_unlinked);
  auto seen = inode->view().opened(mount().reactor());
  FileRef file(
      new File(std::move(inode), std::move(shared), std::move(opened.open), std::move(seen)));
  file->id = open_files_.id_of_next();
  open_files_.emplace(file);
  return file;
}

FileRef FileSystem::find_file(std::uint64_t id) {
  FileRef* file = open_files_.find(id);
  if (!file) return {};
  // A caller that uses the file has left the kernel's part of open(2).
  (*file)->confirm_drop();
  return *file;
}

FileRef FileSystem::remove_file(std::uint64_t id) {
  FileRef file = find_file(id);
  if (file) files_.released(*file);
  open_files_.erase(id);
  return file;
}

std::uint64_t FileSystem::add_directory(InodeRef inode) {
  const std::uint64_t id = directories_.id_of_next();
  directories_.emplace(new cache::Directory(mount().reactor(), std::move(inode)));
  return id;
}

cache::DirectoryRef FileSystem::find_directory(std::uint64_t id) {
  cache::DirectoryRef* directory = directories_.find(id);
  return directory ? *directory : cache::DirectoryRef();
}

void FileSystem::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_inodes", inodes_.size());
  visitor.visit("fs_attribute_hits", attribute_hits_.value());
  inode_limit_.visit_counters(visitor);
  kernel_.visit_counters(visitor);
  files_.visit_counters(visitor);
}

}  // namespace nfsrdma::fuse
