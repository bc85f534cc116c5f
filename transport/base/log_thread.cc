#include "transport/base/log_thread.h"

#include <spdlog/async.h>
#include <spdlog/sinks/sink.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

#include "transport/base/log_logger.h"
#include "transport/base/thread.h"

namespace nfsrdma::log {
namespace {

constexpr std::size_t kMostWaiting = 4096;

/// On the thread that writes: passes lines on, counts them, and tells of those that were lost.
class CountingSink final : public spdlog::sinks::sink {
 public:
  CountingSink(std::vector<spdlog::sink_ptr> targets,
               std::shared_ptr<spdlog::details::thread_pool> pool)
      : targets_(std::move(targets)), pool_(std::move(pool)) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::size_t lost = pool_->overrun_counter();
    if (lost != reported_) {
      const std::string line = fmt::format("{} lines of the log were lost", lost - reported_);
      spdlog::details::log_msg report = message;
      report.level = spdlog::level::warn;
      report.payload = line;
      for (auto& target : targets_) target->log(report);
      reported_ = lost;
    }
    for (auto& target : targets_) target->log(message);
    {
      const std::lock_guard lock(mutex_);
      ++written_;
    }
    line_written_.notify_all();
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

  void count_asked() {
    const std::lock_guard lock(mutex_);
    ++asked_;
  }
  // A lost line was pushed out by one that is still to be written: its writing looks here again.
  void wait_until_written(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    line_written_.wait_for(lock, patience,
                           [&] { return written_ + pool_->overrun_counter() >= asked_; });
  }

 private:
  const std::vector<spdlog::sink_ptr> targets_;
  const std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::size_t reported_ = 0;
  std::mutex mutex_;  ///< never held while a line is written
  std::condition_variable line_written_;
  std::size_t asked_ = 0;
  std::size_t written_ = 0;
};

/// Never destroyed, and with it the pool: that would wait for a thread that may wait for ever.
CountingSink* beside = nullptr;

/// Null where the system has no room for a thread; the log says so.
std::shared_ptr<spdlog::details::thread_pool> start_thread() {
  const SignalsBlocked blocked;
  try {
    return std::make_shared<spdlog::details::thread_pool>(kMostWaiting, 1);
  } catch (const std::system_error& error) {
    report_no_thread(error);
    return nullptr;
  }
}

}  // namespace

void write_beside() {
  if (beside) return;
  const auto pool = start_thread();
  if (!pool) return;
  static const auto sink =
      new std::shared_ptr<CountingSink>(std::make_shared<CountingSink>(logger()->sinks(), pool));
  auto instance = std::make_shared<spdlog::async_logger>(
      logger()->name(), *sink, pool, spdlog::async_overflow_policy::overrun_oldest);
  instance->set_level(logger()->level());
  beside = sink->get();
  logger() = std::move(instance);
}

void line_asked_for() {
  if (beside) beside->count_asked();
}

void finish(std::chrono::milliseconds patience) {
  if (beside) beside->wait_until_written(patience);
}

}  // namespace nfsrdma::log
