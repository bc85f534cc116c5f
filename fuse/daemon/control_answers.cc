#include "fuse/daemon/control_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::array<std::pair<std::string_view, log::Level>, 5> kLevels{{
    {"trace", log::Level::trace},
    {"debug", log::Level::debug},
    {"info", log::Level::info},
    {"warning", log::Level::warning},
    {"error", log::Level::error},
}};

Result<std::string> set_log_level(std::string_view name) {
  const auto* level = std::ranges::find(kLevels, name, [](const auto& each) { return each.first; });
  if (level == kLevels.end()) {
    return fail(Error::local(EINVAL, "log level", "trace, debug, info, warning or error"));
  }
  log::set_level(level->second);
  return std::string();
}

std::string lines_of(const std::function<void(const LineSink&)>& source) {
  std::string lines;
  source([&](std::string_view line) { lines.append(line).push_back('\n'); });
  return lines;
}

/// "K N"
Result<std::string> ended(const ControlSources& sources, std::string_view words) {
  Ended since;
  const std::size_t space = std::min(words.find(' '), words.size());
  const auto read = [](std::string_view word, std::uint64_t& number) {
    const auto done = std::from_chars(word.data(), word.data() + word.size(), number);
    return !word.empty() && done.ec == std::errc() && done.ptr == word.data() + word.size();
  };
  const bool both = space < words.size() && read(words.substr(0, space), since.of_kernel) &&
                    read(words.substr(space + 1), since.of_server);
  if (!both) return fail(Error::local(EINVAL, "control request", "ended takes two numbers"));
  Ended now;
  const std::string lines =
      lines_of([&](const LineSink& line) { now = sources.ended(since, line); });
  return fmt::format("next {} {}\n{}", now.of_kernel, now.of_server, lines);
}

Result<std::string> capture(const ControlSources& sources, AskersFile file) {
  if (!sources.mounted())
    return fail(Error::local(EAGAIN, "control request", "nothing is mounted"));
  if (!file) return fail(Error::local(EBADF, "capture", "no file came with the request"));
  TRY(sources.start_capture(std::move(file)));
  sources.reconnect();
  return std::string("recording, from a new connection on\n");
}

Result<std::string> tell(const ControlSources& sources, std::string_view request) {
  if (!sources.mounted())
    return fail(Error::local(EAGAIN, "control request", "nothing is mounted"));
  if (request == "return") {
    return fmt::format("{} delegations are given back\n", sources.return_delegations());
  }
  if (request == "drop") return fmt::format("{} files are forgotten\n", sources.drop_caches());
  if (request == "capture off") {
    sources.stop_capture();
  } else {
    sources.reconnect();
  }
  return std::string();
}

}  // namespace

Result<std::string> answer_control(const ControlSources& sources, std::string_view request,
                                   AskersFile file) {
  constexpr std::string_view kLog = "log ";
  constexpr std::string_view kEnded = "ended ";
  constexpr std::array kTold{"reconnect", "return", "drop", "capture off"};
  if (request == "identity") return sources.identity();
  if (request == "counters") return format_counters(sources.counters);
  if (request == "requests") return lines_of(sources.requests);
  if (request == "state") return lines_of(sources.state);
  if (std::ranges::find(kTold, request) != kTold.end()) return tell(sources, request);
  if (request == "capture on") return capture(sources, std::move(file));
  if (request.starts_with(kEnded)) return ended(sources, request.substr(kEnded.size()));
  if (request.starts_with(kLog)) return set_log_level(request.substr(kLog.size()));
  return fail(Error::local(
      EINVAL, "control request",
      "identity, counters, requests, ended K N, state, reconnect, return, drop, capture on|off or "
      "log LEVEL can be asked"));
}

}  // namespace nfsrdma::fuse
