// Where lines of the log end up. Shared by the files log*.cc and their tests; not part of the
// interface.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <sys/un.h>

#include <atomic>
#include <mutex>
#include <string>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::log {

/// The journal of systemd takes datagrams there.
inline constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

/// Writes lines with write(2). Under stdio's lock a reader that takes none would block, for ever,
/// every other thread that prints or flushes.
class StandardError final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// To whatever is standard error when a line is written.
  StandardError() = default;
  /// To what is standard error now: descriptor 2 leads elsewhere while fusermount3 runs, and lines
  /// of other threads would end up there. `priorities`: each line begins with "<4>" or the like,
  /// from which the journal takes its priority (sd-daemon(3)).
  explicit StandardError(bool priorities);

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  const bool priorities_ = false;
  const UniqueFd own_{};  ///< none: descriptor 2
};

/// Whether standard error leads to the journal (JOURNAL_STREAM of systemd.exec(5)).
bool standard_error_is_journal();

/// The file of log=. A file that another program has renamed is written to until reopen_later().
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Makes sure that the file can be written, or says why not.
  static Result<std::shared_ptr<FileSink>> open(std::string path);
  /// The file is opened anew before the next line. Any thread; returns at once.
  void reopen_later() { reopen_.store(true, std::memory_order_relaxed); }

 private:
  FileSink(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  void reopen();

  const std::string path_;
  UniqueFd file_;
  std::atomic<bool> reopen_{false};
};

/// Sends lines to the journal in its own protocol, with the mount point as a field
/// (NFSRDMA_MOUNT_POINT).
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Fails where no such socket takes datagrams.
  static Result<std::shared_ptr<JournalSink>> open(std::string program, const char* path);

 private:
  JournalSink(std::string program, UniqueFd socket, const sockaddr_un& address)
      : program_(std::move(program)), socket_(std::move(socket)), address_(address) {}
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  const std::string program_;
  const UniqueFd socket_;
  const sockaddr_un address_;
};

}  // namespace nfsrdma::log
