#include "transport/base/log_sinks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "transport/base/write_all.h"

namespace nfsrdma::log {
namespace {

constexpr const char* kOption = "log";
constexpr mode_t kForTheUserAlone = 0600;

int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug: return LOG_DEBUG;
    case spdlog::level::info: return LOG_INFO;
    case spdlog::level::warn: return LOG_WARNING;
    default: return LOG_ERR;
  }
}

/// A link may be another user's: it is not followed, in a directory like /tmp.
Result<UniqueFd> open_log(const std::string& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd file(::open(path.c_str(), flags, kForTheUserAlone));
  if (!file) return fail(Error::from_errno(errno, kOption, path));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || status.st_nlink != 1) {
    return fail(Error::local(EINVAL, kOption, path + " is not an own, ordinary file"));
  }
  return file;
}

/// A field of the journal's protocol. In the form for any text: the length in 64 bits, little
/// endian, takes the place of "=", and a server's newline begins no field of its own.
void add_field(std::string& datagram, std::string_view name, std::string_view value) {
  datagram += name;
  datagram += '\n';
  for (unsigned shift = 0; shift < 64; shift += 8) {
    datagram += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> shift & 0xff);
  }
  datagram += value;
  datagram += '\n';
}

}  // namespace

StandardError::StandardError(bool priorities)
    : priorities_(priorities), own_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {}

void StandardError::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  if (priorities_) {
    const std::string priority = fmt::format("<{}>", priority_of(message.level));
    line.append(priority.data(), priority.data() + priority.size());
  }
  formatter_->format(message, line);
  write_all(own_ ? own_.get() : STDERR_FILENO, {line.data(), line.size()});
}

bool standard_error_is_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (!stream || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

Result<std::shared_ptr<FileSink>> FileSink::open(std::string path) {
  auto file = open_log(path);
  if (!file) return fail_from(file);
  return std::shared_ptr<FileSink>(new FileSink(std::move(path), std::move(*file)));
}

void FileSink::sink_it_(const spdlog::details::log_msg& message) {
  if (reopen_.exchange(false, std::memory_order_relaxed)) reopen();
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  write_all(file_.get(), {line.data(), line.size()});
}

// Where that fails the old file goes on: better there than nowhere.
void FileSink::reopen() {
  auto file = open_log(path_);
  if (file) {
    file_ = std::move(*file);
  } else {
    write_all(file_.get(), "the log goes on here: " + file.error().message() + '\n');
  }
}

Result<std::shared_ptr<JournalSink>> JournalSink::open(std::string program, const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    return fail(Error::local(ENAMETOOLONG, "journal", path));
  }
  std::strcpy(address.sun_path, path);
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::access(path, W_OK) != 0) {
    return fail(Error::from_errno(errno, "journal", path));
  }
  return std::shared_ptr<JournalSink>(
      new JournalSink(std::move(program), std::move(socket), address));
}

// Not connected: a journal that is started anew may have another socket there.
void JournalSink::sink_it_(const spdlog::details::log_msg& message) {
  const std::string_view mount_point(message.logger_name.data(), message.logger_name.size());
  const std::string_view text(message.payload.data(), message.payload.size());
  std::string datagram;
  add_field(datagram, "MESSAGE", fmt::format("{}: {}", mount_point, text));
  add_field(datagram, "PRIORITY", fmt::to_string(priority_of(message.level)));
  add_field(datagram, "SYSLOG_IDENTIFIER", program_);
  add_field(datagram, "SYSLOG_FACILITY", fmt::to_string(LOG_DAEMON >> 3));
  add_field(datagram, "SYSLOG_PID", fmt::to_string(::getpid()));
  add_field(datagram, "NFSRDMA_MOUNT_POINT", mount_point);
  ssize_t sent = 0;
  do {
    sent = ::sendto(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
  } while (sent < 0 && errno == EINTR);
}

}  // namespace nfsrdma::log
