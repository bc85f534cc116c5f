#include "tests/responder/nfs/fs/file_table.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tests/responder/nfs/fs/proc_path.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

/// In a larger tree the handles of an earlier process may be STALE.
constexpr std::size_t kMostLookedThrough = 1'000'000;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<std::unique_ptr<FileTable>> FileTable::open(const ServiceConfig& config) {
  constexpr const char* kStep = "open exported directory";
  UniqueFd root(::open(config.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail(Error::from_errno(errno, kStep, config.directory));
  std::unique_ptr<FileTable> table(new FileTable(config, std::move(root)));
  const int fd = table->mount_fd_.get();
  const auto stat = stat_fd(fd);
  if (!stat) return fail(Error::local(EIO, kStep, config.directory));
  table->root_device_ = stat->device();
  const auto kernel = kernel_handle_of(fd, "");
  table->kernel_handles_ = config.persistent_handles && can_act_as_others() && kernel && [&] {
    const auto opened = open_kernel_handle(fd, *kernel);
    const UniqueFd probe(opened ? *opened : -1);
    return static_cast<bool>(probe);
  }();
  table->root_ = table->insert(*stat, table->kernel_handles_ ? &*kernel : nullptr);
  table->root_->path_fd_.reset(::openat(fd, ".", kPathFlags | O_DIRECTORY));
  if (!table->root_->path_fd_) return fail(Error::from_errno(errno, kStep, config.directory));
  return table;
}

FileTable::FileTable(const ServiceConfig& config, UniqueFd root_fd)
    : codec_(config.handle_key),
      mount_fd_(std::move(root_fd)),
      max_descriptors_(limit_.affordable(config.max_cached_descriptors)) {}

FileRef FileTable::known(const InodeKey& key) const {
  const auto found = files_.find(key);
  return found == files_.end() ? nullptr : found->second;
}

// The exported file system is device 0 in handles: its number may differ after a reboot.
InodeKey FileTable::wire_key(InodeKey key) const {
  if (key.device == root_device_) key.device = 0;
  return key;
}

FileRef FileTable::insert(const FileStat& stat, const KernelHandle* kernel) {
  auto file = std::make_shared<File>(stat.key(), stat.format());
  file->by_kernel_handle_ = kernel != nullptr;
  file->handle_ = codec_.seal(wire_key(stat.key()), kernel);
  file->has_set_id_bits = (stat.x.stx_mode & (S_ISUID | S_ISGID)) != 0;
  files_.insert_or_assign(file->key(), file);
  return file;
}

Outcome<FileRef> FileTable::find(const nfs_fh4& handle) {
  const auto parsed = codec_.open(handle);
  if (!parsed) return refuse(parsed.error());
  InodeKey key = parsed->key;
  if (key.device == 0) key.device = root_device_;
  if (FileRef file = known(key)) return file;
  if (kernel_handles_ && parsed->kernel) return find_by_kernel_handle(*parsed);
  if (kernel_handles_ || parsed->kernel) return refuse(NFS4ERR_STALE);
  return find_in_tree(key);
}

// Without a time of birth it could be another inode of the same number.
Outcome<FileRef> FileTable::find_in_tree(const InodeKey& key) {
  if (key.birth != 0 && !std::exchange(looked_through_, true)) look_through_tree();
  if (FileRef file = known(key)) return file;
  return refuse(NFS4ERR_STALE);
}

void FileTable::look_through_tree() {
  Walk walk;
  walk.directories.push_back(root_);
  while (!walk.directories.empty() && files_.size() < kMostLookedThrough) {
    const FileRef directory = std::move(walk.directories.back());
    walk.directories.pop_back();
    if (walk.seen.insert(directory->key()).second) look_through(directory, walk);
  }
}

// A directory that cannot be read has no files with useful handles.
void FileTable::look_through(const FileRef& directory, Walk& walk) {
  const auto path = path_fd(directory);
  if (!path) return;
  const int fd = ::openat(*path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDirectory> entries(fd < 0 ? nullptr : ::fdopendir(fd));
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const auto stat = stat_at(fd, entry->d_name);
    if (!stat) continue;
    FileRef file = known(stat->key());
    if (!file) file = insert(*stat, nullptr);
    note_renamed(stat->key(), directory, name);
    if (file->is_directory()) walk.directories.push_back(std::move(file));
  }
}

Outcome<FileRef> FileTable::find_by_kernel_handle(const ParsedHandle& parsed) {
  auto opened = open_by_kernel_handle(*parsed.kernel);
  if (!opened) return refuse(opened.error());
  UniqueFd fd = std::move(*opened);
  const auto stat = stat_fd(fd.get());
  if (!stat) return refuse(stat.error());
  if (wire_key(stat->key()) != parsed.key) return refuse(NFS4ERR_STALE);
  FileRef file = insert(*stat, &*parsed.kernel);
  keep_open(file, std::move(fd));
  return file;
}

Outcome<FoundFile> FileTable::lookup(const Identity& who, const FileRef& directory,
                                     const char* name) {
  const auto directory_fd = path_fd(directory);
  if (!directory_fd) return refuse(directory_fd.error());
  const ActAs act(who);
  const auto stat = stat_at(*directory_fd, name);
  if (!stat) return refuse(stat.error());
  if (FileRef file = known(stat->key())) {
    note_renamed(stat->key(), directory, name);
    return FoundFile{std::move(file), *stat};
  }
  UniqueFd fd(with_room([&] { return ::openat(*directory_fd, name, kPathFlags); }));
  if (!fd) return refuse_errno();
  const auto opened_stat = stat_fd(fd.get());
  if (!opened_stat) return refuse(opened_stat.error());
  FileRef file = adopt(fd.get(), *opened_stat, directory, name);
  if (!file->path_fd_) keep_open(file, std::move(fd));
  return FoundFile{std::move(file), *opened_stat};
}

FileRef FileTable::adopt(int fd, const FileStat& stat, const FileRef& directory,
                         std::string_view name) {
  FileRef file = known(stat.key());
  if (!file) {
    std::optional<KernelHandle> kernel;
    if (kernel_handles_ && stat.device() == root_device_) kernel = kernel_handle_of(fd, "");
    file = insert(stat, kernel ? &*kernel : nullptr);
  }
  note_renamed(stat.key(), directory, name);
  return file;
}

Outcome<FoundFile> FileTable::lookup_parent(const Identity& who, const FileRef& directory) {
  if (directory == root_) return refuse(NFS4ERR_NOENT);
  if (!directory->is_directory()) return refuse(NFS4ERR_NOTDIR);
  const auto directory_fd = path_fd(directory);
  if (!directory_fd) return refuse(directory_fd.error());
  const ActAs act(who);
  UniqueFd fd(with_room([&] { return ::openat(*directory_fd, "..", kPathFlags | O_DIRECTORY); }));
  if (!fd) return refuse_errno();
  const auto stat = stat_fd(fd.get());
  if (!stat) return refuse(stat.error());
  if (FileRef file = known(stat->key())) return FoundFile{std::move(file), *stat};
  if (!below_root(fd.get())) return refuse(NFS4ERR_STALE);
  FileRef file = adopt(fd.get(), *stat, nullptr, {});
  keep_open(file, std::move(fd));
  return FoundFile{std::move(file), *stat};
}

// Another process may have moved a directory out of the served tree; its ".." must not be served.
bool FileTable::below_root(int directory_fd) const {
  UniqueFd above;
  auto stat = stat_fd(directory_fd);
  while (stat && stat->key() != root_->key()) {
    UniqueFd next(::openat(above ? above.get() : directory_fd, "..", kPathFlags | O_DIRECTORY));
    if (!next) return false;
    auto next_stat = stat_fd(next.get());
    if (!next_stat || next_stat->key() == stat->key()) return false;
    above = std::move(next);
    stat = next_stat;
  }
  return stat.has_value();
}

nfs_fh4 FileTable::handle_of_entry(const FileRef& directory, const char* name,
                                   const FileStat& stat) {
  if (const FileRef file = known(stat.key())) return file->handle();
  if (kernel_handles_ && stat.device() == root_device_) {
    const auto directory_fd = path_fd(directory);
    const auto kernel = directory_fd ? kernel_handle_of(*directory_fd, name) : std::nullopt;
    if (kernel) return codec_.seal(wire_key(stat.key()), &*kernel);
  }
  FileRef file = insert(stat, nullptr);
  note_renamed(stat.key(), directory, name);
  return file->handle();
}

Outcome<FileStat> FileTable::stat(const FileRef& file) {
  const auto fd = path_fd(file);
  if (!fd) return refuse(fd.error());
  const auto stat = stat_fd(*fd);
  if (!stat) return refuse(stat.error());
  if (stat->x.stx_nlink == 0 && !file->in_use()) return refuse(NFS4ERR_STALE);
  return *stat;
}

void FileTable::note_removed(const InodeKey& key, const FileRef& directory, std::string_view name) {
  const auto place = files_.find(key);
  if (place == files_.end()) return;
  const FileRef file = place->second;
  if (file->parent_ == directory && file->name_ == name) file->parent_.reset();
  forget_if_removed(file);
}

void FileTable::forget_if_removed(const FileRef& file) {
  const auto place = files_.find(file->key());
  if (file->in_use() || place == files_.end()) return;
  if (file->path_fd_) {
    const auto stat = stat_fd(file->path_fd_.get());
    if (stat && stat->x.stx_nlink > 0) return;
  } else if (file->parent_) {
    return;  // another link of it is known
  }
  file->unlink();
  if (file->path_fd_) --descriptors_;
  file->path_fd_.reset();
  files_.erase(place);
}

void FileTable::note_renamed(const InodeKey& key, const FileRef& directory, std::string_view name) {
  const auto place = files_.find(key);
  if (place == files_.end() || place->second->by_kernel_handle_) return;
  File& file = *place->second;
  if (file.parent_ == directory && file.name_ == name) return;
  file.parent_ = directory;
  file.name_ = name;
}

}  // namespace nfsrdma::responder
