// Lines that a server can cause without end, kept to a bounded number.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::log {

/// For the lines of one kind. The first few of each period are written; the others are counted, and
/// the next line that is written says how many there were. Must outlive connections, or a server
/// gets a new one with each. One thread.
class Limit {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::uint32_t kLines = 5;
  static constexpr Time kPeriod = std::chrono::minutes(1);

  /// `now`: Reactor::now(), so that a test of it needs no real time.
  template <class... Args>
  void emit(Level level, Time now, fmt::format_string<Args...> format, Args&&... args) {
    if (!enabled(level)) return;
    const auto left_out = admit(now);
    if (!left_out) return;
    std::string line = fmt::format(format, std::forward<Args>(args)...);
    if (*left_out > 0) line += fmt::format(" ({} such lines were left out before)", *left_out);
    write(level, line);
  }
  template <class... Args>
  void warning(Time now, fmt::format_string<Args...> format, Args&&... args) {
    emit(Level::warning, now, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(Time now, fmt::format_string<Args...> format, Args&&... args) {
    emit(Level::info, now, format, std::forward<Args>(args)...);
  }

  /// Whether a line may be written now: how many were left out since the last one that was.
  std::optional<std::uint64_t> admit(Time now) {
    if (!begun_ || now - *begun_ >= kPeriod) {
      begun_ = now;
      written_ = 0;
    }
    if (written_ == kLines) {
      ++left_out_;
      return std::nullopt;
    }
    ++written_;
    return std::exchange(left_out_, 0);
  }

 private:
  std::optional<Time> begun_;  // of the present period
  std::uint32_t written_ = 0;  // in it
  std::uint64_t left_out_ = 0;
};

}  // namespace nfsrdma::log
