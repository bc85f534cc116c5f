#include "tests/bench/relay/server.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fuse/channel/answers.h"
#include "tests/bench/loopback.h"
#include "tests/bench/relay/wire.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::bench::relay {
namespace {

/// Large data moves in pieces of this size: one end copies the next while the other has the last.
constexpr std::size_t kPiece = std::size_t{256} << 10;
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

/// One connection. Blocks in receiving and sending.
class Connection {
 public:
  Connection(int socket, int folder)
      : socket_(socket), folder_(folder), in_(kPiece), out_(kPiece) {}

  /// Takes all that has arrived, does it, and sends all answers. False: the connection is over.
  bool turn();

 private:
  std::size_t step(std::span<const std::byte> input);
  std::size_t take_data(std::span<const std::byte> input);
  void obey(const std::string& path);
  void obey_path(const char* path);
  int change(const char* path, Answer& answer) const;
  void open(const char* path);
  void list(const char* path);
  void read();
  void put_answer(const Answer& answer, std::span<const std::byte> body = {});
  std::byte* room_for(std::size_t size);
  void flush();

  const int socket_;
  const int folder_;
  std::vector<std::byte> in_;
  std::size_t filled_ = 0;
  std::vector<std::byte> out_;
  std::size_t used_ = 0;
  bool ok_ = true;
  Ask ask_{};
  std::size_t data_left_ = 0;  ///< of the data of ask_, which arrives in pieces
  int write_error_ = 0;
};

bool Connection::turn() {
  const ssize_t got = ::recv(socket_, in_.data() + filled_, in_.size() - filled_, 0);
  if (got <= 0) return false;
  filled_ += static_cast<std::size_t>(got);
  std::span<const std::byte> rest(in_.data(), filled_);
  while (!rest.empty() && ok_) {
    const std::size_t taken = step(rest);
    if (taken == 0) break;
    rest = rest.subspan(taken);
  }
  std::memmove(in_.data(), rest.data(), rest.size());
  filled_ = rest.size();
  flush();
  return ok_;
}

/// Returns how many bytes have been done with; 0: more must arrive first.
std::size_t Connection::step(std::span<const std::byte> input) {
  if (data_left_ > 0) return take_data(input);
  if (input.size() < sizeof ask_) return 0;
  std::memcpy(&ask_, input.data(), sizeof ask_);
  if (ask_.order == Order::write) {
    data_left_ = ask_.payload_size;
    write_error_ = 0;
    if (data_left_ == 0) put_answer({});
    return sizeof ask_;
  }
  if (ask_.payload_size > kMostPath || ask_.size > kMostData) {
    ok_ = false;
    return 0;
  }
  if (input.size() < sizeof ask_ + ask_.payload_size) return 0;
  obey({reinterpret_cast<const char*>(input.data()) + sizeof ask_, ask_.payload_size});
  return sizeof ask_ + ask_.payload_size;
}

std::size_t Connection::take_data(std::span<const std::byte> input) {
  const std::size_t length = std::min(data_left_, input.size());
  const auto at = static_cast<off_t>(ask_.offset + ask_.payload_size - data_left_);
  const ssize_t put = ::pwrite(static_cast<int>(ask_.file), input.data(), length, at);
  if (put != static_cast<ssize_t>(length)) write_error_ = put < 0 ? errno : EIO;
  data_left_ -= length;
  if (data_left_ == 0) put_answer({.error = write_error_, .size = ask_.payload_size});
  return length;
}

void Connection::obey(const std::string& path) {
  const int file = static_cast<int>(ask_.file);
  switch (ask_.order) {
    case Order::read: return read();
    case Order::sync: return put_answer({.error = error_of(::fdatasync(file))});
    case Order::close: ::close(file); return;
    case Order::open: return open(path.c_str());
    case Order::list: return list(path.c_str());
    default: return obey_path(path.c_str());
  }
}

void Connection::obey_path(const char* path) {
  Answer answer;
  answer.error = change(path, answer);
  fuse_attr attributes{};
  const std::size_t size = body_size(ask_);
  if (answer.error == 0 && size > 0) answer.error = look_at(folder_, path, attributes);
  put_answer(answer, std::as_bytes(std::span(&attributes, 1)).first(size));
}

/// An errno value.
int Connection::change(const char* path, Answer& answer) const {
  const auto mode = static_cast<mode_t>(ask_.mode);
  switch (ask_.order) {
    case Order::look_up: return 0;
    case Order::resize: {
      const UniqueFd file(::openat(folder_, path, O_WRONLY | O_CLOEXEC));
      return error_of(file ? ::ftruncate(file.get(), static_cast<off_t>(ask_.offset)) : -1);
    }
    case Order::create: {
      const int file = ::openat(folder_, path, O_RDWR | O_CREAT | O_CLOEXEC, mode);
      answer.file = static_cast<std::uint64_t>(file);
      return error_of(file);
    }
    case Order::remove: return error_of(::unlinkat(folder_, path, 0));
    case Order::make_folder: return error_of(::mkdirat(folder_, path, mode));
    case Order::remove_folder: return error_of(::unlinkat(folder_, path, AT_REMOVEDIR));
    default: return ENOSYS;
  }
}

void Connection::open(const char* path) {
  std::vector<std::byte> body(body_size(ask_));
  const int file = ::openat(folder_, path, static_cast<int>(ask_.mode & O_ACCMODE) | O_CLOEXEC);
  Answer answer{.error = error_of(file), .file = static_cast<std::uint64_t>(file)};
  fuse_attr attributes{};
  if (file >= 0) answer.error = look_at(folder_, path, attributes);
  std::memcpy(body.data(), &attributes, sizeof attributes);
  if (ask_.size > 0 && attributes.size > 0 && attributes.size <= ask_.size) {
    // Nothing comes of a file that was opened to be written: then it is read as any other.
    const ssize_t got = ::pread(file, body.data() + sizeof attributes, ask_.size, 0);
    answer.size = static_cast<std::uint32_t>(std::max<ssize_t>(got, 0));
  }
  put_answer(answer, body);
}

void Connection::list(const char* path) {
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
  put_answer(answer, page);
}

void Connection::read() {
  const int file = static_cast<int>(ask_.file);
  const auto offset = static_cast<off_t>(ask_.offset);
  Answer answer;
  if (ask_.size <= kSmall) {
    std::byte* const place = room_for(sizeof answer + ask_.size);
    const ssize_t got = ::pread(file, place + sizeof answer, ask_.size, offset);
    answer.error = error_of(got);
    answer.size = static_cast<std::uint32_t>(std::max<ssize_t>(got, 0));
    std::memcpy(place, &answer, sizeof answer);
    return;
  }
  struct stat attributes {};
  answer.error = error_of(::fstat(file, &attributes));
  answer.size = static_cast<std::uint32_t>(
      std::clamp<off_t>(attributes.st_size - offset, 0, static_cast<off_t>(ask_.size)));
  put_answer(answer);
  for (std::size_t done = 0; done < ask_.size;) {
    const std::size_t length = std::min(kPiece - sizeof answer, ask_.size - done);
    std::byte* const place = room_for(length);
    if (::pread(file, place, length, offset + static_cast<off_t>(done)) < 0) ok_ = false;
    done += length;
  }
}

void Connection::put_answer(const Answer& answer, std::span<const std::byte> body) {
  std::memcpy(room_for(sizeof answer), &answer, sizeof answer);
  while (!body.empty()) {
    const auto piece = body.first(std::min(body.size(), kPiece));
    std::memcpy(room_for(piece.size()), piece.data(), piece.size());
    body = body.subspan(piece.size());
  }
}

/// At most kPiece bytes, which are sent with the next flush().
std::byte* Connection::room_for(std::size_t size) {
  if (used_ + size > out_.size()) flush();
  used_ += size;
  return out_.data() + used_ - size;
}

void Connection::flush() {
  ok_ = send_all(socket_, out_.data(), used_) && ok_;
  used_ = 0;
}

}  // namespace

int serve(const char* folder) {
  const UniqueFd served(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!served) return std::perror(folder), 1;
  const UniqueFd listener(listen_on(0));
  while (listener) {
    const UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) break;
    send_at_once(socket.get());
    Connection connection(socket.get(), served.get());
    while (connection.turn()) {
    }
  }
  return std::perror("bench-relay: accept"), 1;
}

}  // namespace nfsrdma::bench::relay
