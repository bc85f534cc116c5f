#include "tests/support/memory_fs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <span>

#include "fuse/channel/request.h"

namespace nfsrdma::testing {
namespace {

using fuse::Request;

/// How long the kernel may believe names and attributes: only this program changes them.
constexpr double kForever = 3600;

fuse::EntryAnswer entry_of(const MemoryFileSystem& memory, std::uint64_t number) {
  return {number, memory.attributes(number), kForever, kForever};
}

void on_lookup(MemoryFileSystem& memory, Request request, fuse::NameArguments arguments) {
  const auto* file = memory.find(arguments.name);
  if (!file) {
    request.reply_error(ENOENT);
    return;
  }
  request.reply_entry(entry_of(memory, memory.number_of(*file)));
}

void on_forget(MemoryFileSystem&, Request request, fuse::ForgetArguments) { request.reply_none(); }

void on_getattr(MemoryFileSystem& memory, Request request, fuse_getattr_in) {
  request.reply_attr(memory.attributes(request.node()), kForever);
}

void on_setattr(MemoryFileSystem& memory, Request request, fuse_setattr_in wanted) {
  auto* file = memory.find(request.node());
  if (file && (wanted.valid & FATTR_SIZE)) file->content.resize(wanted.size);
  request.reply_attr(memory.attributes(request.node()), kForever);
}

void on_create(MemoryFileSystem& memory, Request request, fuse::CreateArguments arguments) {
  const auto number = memory.number_of(memory.add(arguments.name, 0));
  request.reply_create(entry_of(memory, number), {});
}

void on_open(MemoryFileSystem&, Request request, fuse_open_in) { request.reply_open({}); }

/// RELEASE, FLUSH: nothing is kept for an open file.
void on_close(MemoryFileSystem&, Request request, fuse::NoArguments) { request.reply_ok(); }

void on_statfs(MemoryFileSystem&, Request request, fuse::NoArguments) {
  struct statvfs status {};
  status.f_namemax = NAME_MAX;
  status.f_bsize = status.f_frsize = 512;
  request.reply_statfs(status);
}

void on_readdir(MemoryFileSystem& memory, Request request, fuse::ReadArguments arguments) {
  std::vector<std::byte> page(arguments.size);
  std::span<std::byte> room(page);
  auto& files = memory.files();
  for (std::size_t i = arguments.offset; i < files.size(); ++i) {
    const auto attributes = memory.attributes(memory.number_of(files[i]));
    const auto needed = fuse::add_entry(room, files[i].name, attributes, i + 1);
    if (needed > room.size()) break;
    room = room.subspan(needed);
  }
  request.reply_data(std::span(page).first(page.size() - room.size()));
}

constexpr fuse::HandlerTable kHandlers = {
    {FUSE_LOOKUP, fuse::handler<on_lookup>},
    {FUSE_FORGET, fuse::handler<on_forget>},
    {FUSE_BATCH_FORGET, fuse::handler<on_forget>},
    {FUSE_GETATTR, fuse::handler<on_getattr>},
    {FUSE_SETATTR, fuse::handler<on_setattr>},
    {FUSE_CREATE, fuse::handler<on_create>},
    {FUSE_OPEN, fuse::handler<on_open>},
    {FUSE_OPENDIR, fuse::handler<on_open>},
    {FUSE_RELEASE, fuse::handler<on_close>},
    {FUSE_RELEASEDIR, fuse::handler<on_close>},
    {FUSE_READ, fuse::handler<MemoryFileSystem::on_read>},
    {FUSE_WRITE, fuse::handler<MemoryFileSystem::on_write>},
    {FUSE_READDIR, fuse::handler<on_readdir>},
    {FUSE_STATFS, fuse::handler<on_statfs>},
};

}  // namespace

const fuse::HandlerTable& MemoryFileSystem::handlers() { return kHandlers; }

void MemoryFileSystem::on_read(MemoryFileSystem& memory, Request request,
                               fuse::ReadArguments arguments) {
  const std::span<const std::byte> content(memory.find(request.node())->content);
  const auto start = std::min<std::size_t>(arguments.offset, content.size());
  const auto size = std::min<std::size_t>(arguments.size, content.size() - start);
  request.reply_data(content.subspan(start, size));
}

void MemoryFileSystem::on_write(MemoryFileSystem& memory, Request request,
                                fuse::WriteArguments arguments) {
  memory.write(*memory.find(request.node()), arguments.offset, arguments.data);
  request.reply_write(arguments.size);
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

MemoryFile* MemoryFileSystem::find(std::uint64_t number) {
  const auto index = number - kFirstFile;
  return number >= kFirstFile && index < files_.size() ? &files_[index] : nullptr;
}

std::uint64_t MemoryFileSystem::number_of(const MemoryFile& file) const {
  return kFirstFile + static_cast<std::uint64_t>(&file - files_.data());
}

struct stat MemoryFileSystem::attributes(std::uint64_t number) const {
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

void MemoryFileSystem::write(MemoryFile& file, std::size_t offset,
                             std::span<const std::byte> data) {
  file.content.resize(std::max(file.content.size(), offset + data.size()));
  if (keep_writes_) std::memcpy(file.content.data() + offset, data.data(), data.size());
}

}  // namespace nfsrdma::testing
