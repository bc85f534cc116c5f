// Logging behind one small header, so that spdlog is compiled in one place only.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace nfsrdma::log {

enum class Level : int { trace, debug, info, warning, error, off };

/// Where lines go. Default: standard error. The system log is the journal, where there is one.
enum class Sink { standard_error, system_log };

/// Sets sink, level and the identity printed in every line (the mount point or program name).
void configure(Sink sink, Level level, std::string identity);
void set_level(Level level);
bool enabled(Level level);
void write(Level level, std::string_view line);

template <class... Args>
void emit(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> f, Args&&... args) {
  emit(Level::debug, f, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> f, Args&&... args) {
  emit(Level::info, f, std::forward<Args>(args)...);
}
template <class... Args>
void warning(fmt::format_string<Args...> f, Args&&... args) {
  emit(Level::warning, f, std::forward<Args>(args)...);
}
template <class... Args>
void error(fmt::format_string<Args...> f, Args&&... args) {
  emit(Level::error, f, std::forward<Args>(args)...);
}

}  // namespace nfsrdma::log
