#include "transport/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>

#include "transport/base/log_logger.h"
#include "transport/base/log_terminal.h"

namespace nfsrdma::log {
namespace {

/// Who writes to the system log; several mounts differ by what their lines begin with.
constexpr const char* kProgram = "nfsrdma";

std::atomic<Level> current_level{Level::info};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::trace: return spdlog::level::trace;
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::off: break;
  }
  return spdlog::level::off;
}

/// Writes lines with write(2). Under stdio's lock a reader that takes none would block, for ever,
/// every other thread that prints or flushes.
class StandardError final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (std::size_t done = 0; done < line.size();) {
      const auto put = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return;
      done += static_cast<std::size_t>(put);
    }
  }
  void flush_() override {}
};

}  // namespace

std::shared_ptr<spdlog::logger>& logger() {
  // Never destroyed: threads that outlive main() may still log.
  static auto& instance = *new auto([] {
    auto made = std::make_shared<spdlog::logger>("nfsrdma", std::make_shared<StandardError>());
    made->set_level(spdlog::level::trace);  // enabled() decides
    return made;
  }());
  return instance;
}

void configure(Sink sink, Level level, std::string identity) {
  spdlog::sink_ptr target;
  if (sink == Sink::system_log) {
    target = std::make_shared<spdlog::sinks::syslog_sink_mt>(kProgram, LOG_PID, LOG_DAEMON, true);
  } else {
    target = std::make_shared<StandardError>();
  }
  logger() = std::make_shared<spdlog::logger>(std::move(identity), std::move(target));
  if (sink == Sink::system_log) {
    // syslog(3) ends lines itself.
    logger()->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%n: %v", spdlog::pattern_time_type::local, ""));
  } else {
    logger()->set_pattern("%H:%M:%S.%e %L %n: %v");
  }
  // write() is for lines that are wanted whatever the level.
  logger()->set_level(spdlog::level::trace);
  set_level(level);
}

void set_level(Level level) { current_level.store(level, std::memory_order_relaxed); }

void follow_on_terminal() {
  auto terminal = std::make_shared<StandardError>();
  terminal->set_pattern("nfsrdma: %v");
  logger()->sinks().push_back(std::move(terminal));
}

void leave_terminal() {
  if (logger()->sinks().size() > 1) logger()->sinks().pop_back();
}

bool enabled(Level level) { return level >= current_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) {
  if (!logger()->should_log(spdlog_level(level))) return;
  line_asked_for();
  logger()->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace nfsrdma::log
