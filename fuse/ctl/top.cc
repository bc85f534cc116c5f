#include "fuse/ctl/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>

#include "fuse/ctl/per_operation.h"
#include "fuse/ctl/text.h"
#include "transport/base/line_text.h"

namespace nfsrdma::ctl {
namespace {

using Clock = std::chrono::steady_clock;

struct Seen {
  std::vector<PerOperation> operations;
  Clock::time_point when;
};

/// By socket: a mount that is made anew has another one.
using AllSeen = std::map<std::string, Seen>;

std::string screen_of(const Mount& mount, const Seen& before, const Seen& now, bool json) {
  const double seconds = std::chrono::duration<double>(now.when - before.when).count();
  if (json) {
    return fmt::format(R"({{"mount_point":{},"seconds":{:.3f},"operations":{}}})",
                       json_string(mount.get("mount_point")), seconds,
                       operations_as_json(since(before.operations, now.operations)));
  }
  const auto shown = [&](const char* name) { return escape_line(mount.get(name)); };
  return fmt::format("{} on {}: {}, requests wait for {} s\n{}\n", shown("source"),
                     shown("mount_point"), shown("state"), shown("waiting_seconds"),
                     rate_table(since(before.operations, now.operations), seconds));
}

/// The operations since the last look, which this one replaces.
std::string look_again(AllSeen& seen, const std::vector<std::pair<Mount, Counters>>& mounts,
                       bool json) {
  std::string screen;
  AllSeen present;
  for (const auto& [mount, counters] : mounts) {
    Seen now{per_operation(counters), Clock::now()};
    const auto before = seen.find(mount.socket);
    if (before != seen.end()) {
      if (json && !screen.empty()) screen += ',';
      screen += screen_of(mount, before->second, now, json);
    }
    present.emplace(mount.socket, std::move(now));
  }
  seen = std::move(present);
  return json ? '[' + screen + "]\n" : screen;
}

}  // namespace

Result<void> top(const Look& look, std::chrono::milliseconds interval, unsigned times, bool json) {
  const char* clear = ::isatty(STDOUT_FILENO) != 0 && !json ? "\x1b[H\x1b[2J" : "";
  AllSeen seen;
  for (unsigned done = 0; times == 0 || done <= times; ++done) {
    const auto mounts = look();
    if (!mounts) return tl::unexpected(mounts.error());
    const std::string screen = look_again(seen, *mounts, json);
    if (done > 0) {
      fmt::print("{}{}", clear, screen);
      std::fflush(stdout);
    }
    if (done != times || times == 0) std::this_thread::sleep_for(interval);
  }
  return {};
}

}  // namespace nfsrdma::ctl
