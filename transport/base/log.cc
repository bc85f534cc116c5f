#include "transport/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <memory>

#include "transport/base/log_file.h"
#include "transport/base/log_logger.h"
#include "transport/base/log_sinks.h"
#include "transport/base/log_terminal.h"

namespace nfsrdma::log {
namespace {

/// The program's name in the system log; lines of several mounts differ by their beginnings.
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

/// The file of log=, once it is in use. Never destroyed, as the logger.
std::shared_ptr<FileSink>& log_file() {
  static auto& file = *new std::shared_ptr<FileSink>;
  return file;
}

spdlog::sink_ptr system_log() {
  auto journal = JournalSink::open(kProgram, kJournalSocket);
  if (journal) return *journal;
  auto sink = std::make_shared<spdlog::sinks::syslog_sink_mt>(kProgram, LOG_PID, LOG_DAEMON, true);
  // syslog(3) ends lines itself.
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%n: %v", spdlog::pattern_time_type::local, ""));
  return sink;
}

spdlog::sink_ptr standard_error() {
  const bool journal = standard_error_is_journal();
  auto sink = std::make_shared<StandardError>(journal);
  sink->set_pattern(journal ? "%n: %v" : "%H:%M:%S.%e %L %n: %v");
  return sink;
}

void use(spdlog::sink_ptr target, Level level, std::string identity) {
  logger() = std::make_shared<spdlog::logger>(std::move(identity), std::move(target));
  // write() is for lines that are wanted whatever the level.
  logger()->set_level(spdlog::level::trace);
  set_level(level);
}

bool is_control(char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }

/// With \xHH for each control character: a name that a server has sent must not begin a line of
/// its own, nor change the terminal that shows it.
std::string printable(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (is_control(c)) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

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
  log_file().reset();
  use(sink == Sink::system_log ? system_log() : standard_error(), level, std::move(identity));
}

Result<void> configure_file(const std::string& path, Level level, std::string identity) {
  auto file = FileSink::open(path);
  if (!file) return fail_from(file);
  log_file() = std::move(*file);
  log_file()->set_pattern("%Y-%m-%d %H:%M:%S.%e [%P] %L %n: %v");
  use(log_file(), level, std::move(identity));
  return {};
}

bool reopen_file() {
  if (!log_file()) return false;
  log_file()->reopen_later();
  write(Level::info, "the log is opened anew");
  return true;
}

void set_level(Level level) { current_level.store(level, std::memory_order_relaxed); }

void follow_on_terminal() {
  auto terminal = std::make_shared<StandardError>(false);
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
  const auto put = [level](std::string_view text) {
    logger()->log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
  };
  if (std::ranges::none_of(line, is_control)) return put(line);
  put(printable(line));
}

}  // namespace nfsrdma::log
