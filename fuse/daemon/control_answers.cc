#include "fuse/daemon/control_answers.h"

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

}  // namespace

Result<std::string> answer_control(const ControlSources& sources, std::string_view request) {
  constexpr std::string_view kLog = "log ";
  if (request == "identity") return sources.identity();
  if (request == "counters") return format_counters(sources.counters);
  if (request == "requests") {
    std::string lines;
    sources.requests([&](std::string_view line) { lines.append(line).push_back('\n'); });
    return lines;
  }
  if (request.starts_with(kLog)) return set_log_level(request.substr(kLog.size()));
  return fail(Error::local(EINVAL, "control request",
                           "identity, counters, requests or log LEVEL can be asked"));
}

}  // namespace nfsrdma::fuse
