#include "fuse/daemon/control_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

Result<std::string> tell(const ControlSources& sources, std::string_view request) {
  if (!sources.mounted())
    return fail(Error::local(EAGAIN, "control request", "nothing is mounted"));
  if (request == "return") {
    return fmt::format("{} delegations are given back\n", sources.return_delegations());
  }
  sources.reconnect();
  return std::string();
}

}  // namespace

Result<std::string> answer_control(const ControlSources& sources, std::string_view request) {
  constexpr std::string_view kLog = "log ";
  if (request == "identity") return sources.identity();
  if (request == "counters") return format_counters(sources.counters);
  if (request == "requests") return lines_of(sources.requests);
  if (request == "state") return lines_of(sources.state);
  if (request == "reconnect" || request == "return") return tell(sources, request);
  if (request.starts_with(kLog)) return set_log_level(request.substr(kLog.size()));
  return fail(Error::local(
      EINVAL, "control request",
      "identity, counters, requests, state, reconnect, return or log LEVEL can be asked"));
}

}  // namespace nfsrdma::fuse
