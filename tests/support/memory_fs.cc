#include "tests/support/memory_fs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "fuse/channel/request.h"

namespace nfsrdma::testing {
namespace {

using fuse::Request;

/// How long the kernel may believe names and attributes: only this program changes them.
constexpr double kForever = 3600;

MemoryFileSystem& file_system(fuse_req_t request) {
  return *static_cast<MemoryFileSystem*>(fuse_req_userdata(request));
}

fuse_entry_param entry_of(const MemoryFileSystem& memory, fuse_ino_t number) {
  fuse_entry_param entry{};
  entry.ino = number;
  entry.attr = memory.attributes(number);
  entry.attr_timeout = entry.entry_timeout = kForever;
  return entry;
}

void on_lookup(fuse_req_t request, fuse_ino_t, const char* name) {
  auto& memory = file_system(request);
  Request reply(request);
  const auto* file = memory.find(name);
  if (!file) {
    reply.reply_error(ENOENT);
    return;
  }
  reply.reply_entry(entry_of(memory, memory.number_of(*file)));
}

void on_forget(fuse_req_t request, fuse_ino_t, std::uint64_t) { Request(request).reply_none(); }

void on_getattr(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  auto& memory = file_system(request);
  Request reply(request);
  reply.reply_attr(memory.attributes(number), kForever);
}

void on_setattr(fuse_req_t request, fuse_ino_t number, struct stat* wanted, int which,
                fuse_file_info*) {
  auto& memory = file_system(request);
  Request reply(request);
  auto* file = memory.find(number);
  if (file && (which & FUSE_SET_ATTR_SIZE)) {
    file->content.resize(static_cast<std::size_t>(wanted->st_size));
  }
  reply.reply_attr(memory.attributes(number), kForever);
}

void on_create(fuse_req_t request, fuse_ino_t, const char* name, mode_t, fuse_file_info* open) {
  auto& memory = file_system(request);
  Request reply(request);
  const auto number = memory.number_of(memory.add(name, 0));
  reply.reply_create(entry_of(memory, number), *open);
}

void on_open(fuse_req_t request, fuse_ino_t, fuse_file_info* open) {
  Request(request).reply_open(*open);
}

void on_read(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset,
             fuse_file_info*) {
  auto& memory = file_system(request);
  Request reply(request);
  const std::span<const std::byte> content(memory.find(number)->content);
  const auto start = std::min(static_cast<std::size_t>(offset), content.size());
  reply.reply_data(content.subspan(start, std::min(size, content.size() - start)));
}

void on_write(fuse_req_t request, fuse_ino_t number, const char* data, std::size_t size,
              off_t offset, fuse_file_info*) {
  auto& memory = file_system(request);
  Request reply(request);
  memory.write(*memory.find(number), static_cast<std::size_t>(offset), data, size);
  reply.reply_write(size);
}

void on_readdir(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info*) {
  auto& memory = file_system(request);
  std::vector<char> page(size);
  std::size_t used = 0;
  auto& files = memory.files();
  for (auto i = static_cast<std::size_t>(offset); i < files.size(); ++i) {
    const auto attributes = memory.attributes(memory.number_of(files[i]));
    const auto needed =
        fuse_add_direntry(request, page.data() + used, size - used, files[i].name.c_str(),
                          &attributes, static_cast<off_t>(i + 1));
    if (needed > size - used) break;
    used += needed;
  }
  Request reply(request);
  reply.reply_data(std::as_bytes(std::span(page).first(used)));
}

fuse_lowlevel_ops make_operations() {
  fuse_lowlevel_ops table{};
  table.lookup = on_lookup;
  table.forget = on_forget;
  table.getattr = on_getattr;
  table.setattr = on_setattr;
  table.create = on_create;
  table.open = on_open;
  table.read = on_read;
  table.write = on_write;
  table.readdir = on_readdir;
  return table;
}

}  // namespace

const fuse_lowlevel_ops& MemoryFileSystem::operations() {
  static const fuse_lowlevel_ops table = make_operations();
  return table;
}

MemoryFile& MemoryFileSystem::add(std::string name, std::size_t size) {
  files_.push_back(MemoryFile{std::move(name), std::vector<std::byte>(size)});
  return files_.back();
}

MemoryFile* MemoryFileSystem::find(std::string_view name) {
  const auto found = std::find_if(files_.begin(), files_.end(),
                                  [&](const MemoryFile& file) { return file.name == name; });
  return found == files_.end() ? nullptr : &*found;
}

MemoryFile* MemoryFileSystem::find(fuse_ino_t number) {
  const auto index = number - kFirstFile;
  return number >= kFirstFile && index < files_.size() ? &files_[index] : nullptr;
}

fuse_ino_t MemoryFileSystem::number_of(const MemoryFile& file) const {
  return kFirstFile + static_cast<fuse_ino_t>(&file - files_.data());
}

struct stat MemoryFileSystem::attributes(fuse_ino_t number) const {
  struct stat attributes {};
  attributes.st_ino = number;
  attributes.st_uid = ::getuid();
  attributes.st_gid = ::getgid();
  attributes.st_nlink = 1;
  attributes.st_mode = S_IFDIR | 0755;
  if (number >= kFirstFile) {
    attributes.st_mode = S_IFREG | 0644;
    attributes.st_size = static_cast<off_t>(files_[number - kFirstFile].content.size());
  }
  return attributes;
}

void MemoryFileSystem::write(MemoryFile& file, std::size_t offset, const char* data,
                             std::size_t size) {
  file.content.resize(std::max(file.content.size(), offset + size));
  if (keep_writes_) std::memcpy(file.content.data() + offset, data, size);
}

}  // namespace nfsrdma::testing
