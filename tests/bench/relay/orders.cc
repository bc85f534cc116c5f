#include "tests/bench/relay/orders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "fuse/channel/answers.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::bench::relay {
namespace {

/// What is read at once, so that one call sends several answers.
constexpr std::size_t kSmall = std::size_t{64} << 10;

int error_of(std::int64_t result) { return result < 0 ? errno : 0; }

/// An errno value.
int look_at(int folder, const char* path, fuse_attr& attributes) {
  struct stat status {};
  if (::fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  attributes = fuse::to_wire(status, 0).attr;
  return 0;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

void Orders::obey(const Ask& ask, std::span<const std::byte> payload) {
  ask_ = ask;
  const int file = static_cast<int>(ask_.file);
  const std::string path(reinterpret_cast<const char*>(payload.data()),
                         ask_.order == Order::write ? 0 : payload.size());
  switch (ask_.order) {
    case Order::read: return read();
    case Order::write:
      begin_write(ask, payload.size());
      if (!payload.empty()) take_data(payload);
      return;
    case Order::sync: return out_.put({.error = error_of(::fdatasync(file))});
    case Order::close: ::close(file); return;
    case Order::close_answered: return close(file);
    case Order::open: return open(path.c_str());
    case Order::list: return list(path.c_str());
    default: return obey_path(path.c_str());
  }
}

void Orders::obey_path(const char* path) {
  Answer answer;
  answer.error = change(path, answer);
  fuse_attr attributes{};
  const std::size_t size = body_size(ask_);
  if (answer.error == 0 && size > 0) answer.error = look_at(folder_, path, attributes);
  out_.put(answer, std::as_bytes(std::span(&attributes, 1)).first(size));
}

/// An errno value.
int Orders::change(const char* path, Answer& answer) const {
  if (ask_.order == Order::look_up) return 0;
  note(folder_);
  const int error = do_change(path, answer);
  note(folder_);
  return error;
}

/// The change attribute and others, of which nothing is made here.
void Orders::note(int file) const {
  struct stat status {};
  if (as_nfs_) ::fstat(file, &status);
}

void Orders::note_handle(int file) const {
  if (!as_nfs_) return;
  alignas(file_handle) std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> memory{};
  auto* const handle = new (memory.data()) file_handle;
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  ::name_to_handle_at(file, "", handle, &mount, AT_EMPTY_PATH);
}

void Orders::close(int file) {
  note(file);
  ::close(file);
  out_.put({});
}

/// An errno value.
int Orders::do_change(const char* path, Answer& answer) const {
  const auto mode = static_cast<mode_t>(ask_.mode);
  switch (ask_.order) {
    case Order::resize: {
      const UniqueFd file(::openat(folder_, path, O_WRONLY | O_CLOEXEC));
      return error_of(file ? ::ftruncate(file.get(), static_cast<off_t>(ask_.offset)) : -1);
    }
    case Order::create: {
      const int file = ::openat(folder_, path, O_RDWR | O_CREAT | O_CLOEXEC, mode);
      answer.file = static_cast<std::uint64_t>(file);
      if (file >= 0) note_handle(file);
      return error_of(file);
    }
    case Order::remove: {
      fuse_attr victim{};  // REMOVE is for files and folders
      if (as_nfs_) look_at(folder_, path, victim);
      return error_of(::unlinkat(folder_, path, 0));
    }
    case Order::make_folder: return error_of(::mkdirat(folder_, path, mode));
    case Order::remove_folder: return error_of(::unlinkat(folder_, path, AT_REMOVEDIR));
    default: return ENOSYS;
  }
}

void Orders::open(const char* path) {
  std::vector<std::byte> body(body_size(ask_));
  const int file = ::openat(folder_, path, static_cast<int>(ask_.mode & O_ACCMODE) | O_CLOEXEC);
  Answer answer{.error = error_of(file), .file = static_cast<std::uint64_t>(file)};
  fuse_attr attributes{};
  if (file >= 0) answer.error = look_at(folder_, path, attributes);
  if (file >= 0) note_handle(file);
  note(folder_);
  std::memcpy(body.data(), &attributes, sizeof attributes);
  if (ask_.size > 0 && attributes.size > 0 && attributes.size <= ask_.size) {
    // Nothing comes of a file that was opened to be written: then it is read as any other.
    const ssize_t got = ::pread(file, body.data() + sizeof attributes, ask_.size, 0);
    answer.size = static_cast<std::uint32_t>(std::max<ssize_t>(got, 0));
  }
  out_.put(answer, body);
}

void Orders::list(const char* path) {
  std::vector<std::byte> page(ask_.size);
  std::span<std::byte> room(page);
  const std::unique_ptr<DIR, CloseFolder> folder(
      ::fdopendir(::openat(folder_, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  Answer answer{.error = folder ? 0 : errno};
  std::uint64_t next = 0;
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (next++ < ask_.offset) continue;
    struct stat attributes {};
    attributes.st_ino = entry->d_ino;
    attributes.st_mode = static_cast<mode_t>(DTTOIF(entry->d_type));
    const std::size_t needed = fuse::add_entry(room, entry->d_name, attributes, next);
    if (needed > room.size()) break;
    room = room.subspan(needed);
  }
  answer.size = static_cast<std::uint32_t>(page.size() - room.size());
  out_.put(answer, page);
}

void Orders::read() {
  const int file = static_cast<int>(ask_.file);
  const auto offset = static_cast<off_t>(ask_.offset);
  Answer answer;
  if (ask_.size <= std::min(kSmall, out_.most_in_piece())) {
    const ssize_t got = ::pread(file, out_.place_for_body(ask_.size, true), ask_.size, offset);
    answer.error = error_of(got);
    answer.size = static_cast<std::uint32_t>(std::max<ssize_t>(got, 0));
    out_.put(answer);
    return out_.body_is_there(ask_.size);
  }
  struct stat attributes {};
  answer.error = error_of(::fstat(file, &attributes));
  answer.size = static_cast<std::uint32_t>(
      std::clamp<off_t>(attributes.st_size - offset, 0, static_cast<off_t>(ask_.size)));
  out_.put(answer);
  for (std::size_t done = 0; done < ask_.size;) {
    const std::size_t length = std::min(out_.most_in_piece(), ask_.size - done);
    std::byte* const place = out_.place_for_body(length);
    if (::pread(file, place, length, offset + static_cast<off_t>(done)) < 0) ok_ = false;
    out_.body_is_there(length);
    done += length;
  }
}

void Orders::begin_write(const Ask& ask, std::size_t size) {
  ask_ = ask;
  data_size_ = data_left_ = size;
  write_error_ = 0;
  if (size == 0) out_.put({});
}

std::size_t Orders::take_data(std::span<const std::byte> input) {
  const std::size_t length = std::min(data_left_, input.size());
  const auto at = static_cast<off_t>(ask_.offset + data_size_ - data_left_);
  const ssize_t put = ::pwrite(static_cast<int>(ask_.file), input.data(), length, at);
  if (put != static_cast<ssize_t>(length)) write_error_ = put < 0 ? errno : EIO;
  data_left_ -= length;
  if (data_left_ == 0) {
    note(static_cast<int>(ask_.file));
    out_.put({.error = write_error_, .size = static_cast<std::uint32_t>(data_size_)});
  }
  return length;
}

}  // namespace nfsrdma::bench::relay
