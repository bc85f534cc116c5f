#include "transport/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <atomic>
#include <memory>

namespace nfsrdma::log {
namespace {

std::atomic<Level> current_level{Level::info};

std::shared_ptr<spdlog::logger>& logger() {
  static auto instance = std::make_shared<spdlog::logger>(
      "nfsrdma", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return instance;
}

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

}  // namespace

void configure(Sink sink, Level level, std::string identity) {
  spdlog::sink_ptr target;
  if (sink == Sink::system_log) {
    target = std::make_shared<spdlog::sinks::syslog_sink_mt>(identity, LOG_PID, LOG_DAEMON, false);
  } else {
    target = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  logger() = std::make_shared<spdlog::logger>(std::move(identity), std::move(target));
  logger()->set_pattern(sink == Sink::system_log ? "%v" : "%H:%M:%S.%e %L %n: %v");
  set_level(level);
}

void set_level(Level level) {
  current_level.store(level, std::memory_order_relaxed);
  logger()->set_level(spdlog_level(level));
}

bool enabled(Level level) { return level >= current_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) {
  logger()->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace nfsrdma::log
