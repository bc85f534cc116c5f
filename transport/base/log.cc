#include "transport/base/log.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "transport/base/log_terminal.h"
#include "transport/base/log_thread.h"

namespace nfsrdma::log {
namespace {

/// Who writes to the system log; several mounts differ by what their lines begin with.
constexpr const char* kProgram = "nfsrdma";

std::atomic<Level> current_level{Level::info};

std::shared_ptr<spdlog::logger>& logger() {
  static auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("nfsrdma",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);  // enabled() decides
    return made;
  }();
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

constexpr std::size_t kMostWaiting = 4096;

/// On the thread that writes: passes lines on, counts them, and tells of those that were lost.
class CountingSink final : public spdlog::sinks::sink {
 public:
  explicit CountingSink(std::vector<spdlog::sink_ptr> targets) : targets_(std::move(targets)) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::size_t lost = overruns();
    if (lost != reported_) {
      const std::string line = fmt::format("{} lines of the log were lost", lost - reported_);
      spdlog::details::log_msg report = message;
      report.level = spdlog::level::warn;
      report.payload = line;
      for (auto& target : targets_) target->log(report);
      reported_ = lost;
    }
    for (auto& target : targets_) target->log(message);
    written.fetch_add(1);
  }
  void flush() override {
    for (auto& target : targets_) target->flush();
  }
  void set_pattern(const std::string& pattern) override {
    for (auto& target : targets_) target->set_pattern(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    for (auto& target : targets_) target->set_formatter(formatter->clone());
  }

  std::atomic<std::size_t> written = 0;
  std::weak_ptr<spdlog::details::thread_pool> pool;

 private:
  std::size_t overruns() const {
    const auto alive = pool.lock();
    return alive ? alive->overrun_counter() : 0;
  }

  std::vector<spdlog::sink_ptr> targets_;
  std::size_t reported_ = 0;
};

/// Never destroyed: that would wait for a thread that may wait for ever.
struct Beside {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<CountingSink> sink;
  std::atomic<std::size_t> asked = 0;
};
Beside* beside = nullptr;

/// Signals are the main thread's.
std::shared_ptr<spdlog::details::thread_pool> make_pool() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto pool = std::make_shared<spdlog::details::thread_pool>(kMostWaiting, 1);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pool;
}

}  // namespace

void write_beside() {
  if (beside) return;
  auto* made = new Beside{make_pool(), std::make_shared<CountingSink>(logger()->sinks())};
  made->sink->pool = made->pool;
  const auto level = logger()->level();
  auto instance = std::make_shared<spdlog::async_logger>(
      logger()->name(), made->sink, made->pool, spdlog::async_overflow_policy::overrun_oldest);
  instance->set_level(level);
  beside = made;
  logger() = std::move(instance);
}

void finish(std::chrono::milliseconds patience) {
  if (!beside) return;
  constexpr auto interval = std::chrono::milliseconds(2);
  for (auto waited = std::chrono::milliseconds(0); waited < patience; waited += interval) {
    if (beside->sink->written.load() + beside->pool->overrun_counter() >= beside->asked.load())
      return;
    std::this_thread::sleep_for(interval);
  }
}

void configure(Sink sink, Level level, std::string identity) {
  spdlog::sink_ptr target;
  if (sink == Sink::system_log) {
    target = std::make_shared<spdlog::sinks::syslog_sink_mt>(kProgram, LOG_PID, LOG_DAEMON, true);
  } else {
    target = std::make_shared<spdlog::sinks::stderr_sink_mt>();
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
  auto terminal = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  terminal->set_pattern("nfsrdma: %v");
  logger()->sinks().push_back(std::move(terminal));
}

void leave_terminal() {
  if (logger()->sinks().size() > 1) logger()->sinks().pop_back();
}

bool enabled(Level level) { return level >= current_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) {
  if (beside && logger()->should_log(spdlog_level(level))) beside->asked.fetch_add(1);
  logger()->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace nfsrdma::log
