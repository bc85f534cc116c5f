#include "fuse/daemon/control_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "fuse/options/options.h"
#include "transport/base/line_text.h"
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
  const std::size_t space = std::min(words.find(' '), words.size());
  const auto of_kernel = whole_number<std::uint64_t>(words.substr(0, space));
  const auto of_server =
      whole_number<std::uint64_t>(words.substr(std::min(space + 1, words.size())));
  if (!of_kernel || !of_server) {
    return fail(Error::local(EINVAL, "control request", "ended takes two numbers"));
  }
  const Ended since{*of_kernel, *of_server};
  Ended now;
  const std::string lines =
      lines_of([&](const LineSink& line) { now = sources.ended(since, line); });
  return fmt::format("next {} {}\n{}", now.of_kernel, now.of_server, lines);
}

/// "NAME=NUMBER" up to `most`.
bool read_term(std::string_view word, std::string_view name, std::uint64_t most,
               std::uint64_t& value) {
  if (!word.starts_with(name)) return false;
  const auto read = whole_number<std::uint64_t>(word.substr(name.size()));
  value = read.value_or(value);
  return read && value <= most;
}

/// " capture_view=rpc capture_snap=128 capture_size=64"
Result<CaptureTerms> capture_terms(std::string_view words) {
  constexpr std::string_view kView = "capture_view=";
  constexpr std::uint64_t kMostMebibytes = 65536;
  constexpr unsigned kMebibyteShift = 20;
  CaptureTerms terms;
  while (!words.empty()) {
    words.remove_prefix(1);  // the blank
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size());
    std::uint64_t value = 0;
    if (word.starts_with(kView) && capture_view_of(word.substr(kView.size()))) {
      terms.view = capture_view_of(word.substr(kView.size()));
    } else if (read_term(word, "capture_snap=", UINT32_MAX, value)) {
      terms.snap = value;
    } else if (read_term(word, "capture_size=", kMostMebibytes, value) && value != 0) {
      terms.file_bytes = value << kMebibyteShift;
    } else {
      return fail(Error::local(EINVAL, "capture", std::string(word) + " is not understood"));
    }
  }
  return terms;
}

Result<std::string> capture(const ControlSources& sources, std::string_view words,
                            AskersFiles files) {
  if (!sources.mounted())
    return fail(Error::local(EAGAIN, "control request", "nothing is mounted"));
  auto terms = capture_terms(words);
  if (!terms) return fail_from(terms);
  if (files.empty()) return fail(Error::local(EBADF, "capture", "no file came with the request"));
  TRY(sources.start_capture(std::move(files), *terms));
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
                                   AskersFiles files) {
  constexpr std::string_view kLog = "log ";
  constexpr std::string_view kCapture = "capture on";
  constexpr std::string_view kEnded = "ended ";
  constexpr std::array kTold{"reconnect", "return", "drop", "capture off"};
  if (request == "identity") return sources.identity();
  if (request == "counters") return format_counters(sources.counters);
  if (request == "requests") return lines_of(sources.requests);
  if (request == "state") return lines_of(sources.state);
  if (std::ranges::find(kTold, request) != kTold.end()) return tell(sources, request);
  if (request == kCapture || (request.starts_with(kCapture) && request[kCapture.size()] == ' ')) {
    return capture(sources, request.substr(kCapture.size()), std::move(files));
  }
  if (request.starts_with(kEnded)) return ended(sources, request.substr(kEnded.size()));
  if (request.starts_with(kLog)) return set_log_level(request.substr(kLog.size()));
  return fail(Error::local(
      EINVAL, "control request",
      "identity, counters, requests, ended K N, state, reconnect, return, drop, capture on|off or "
      "log LEVEL can be asked"));
}

}  // namespace nfsrdma::fuse
