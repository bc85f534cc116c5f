#include "fuse/ctl/follow.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string_view>
#include <thread>

#include "fuse/ctl/text.h"
#include "transport/base/line_text.h"

namespace nfsrdma::ctl {
namespace {

constexpr std::chrono::milliseconds kInterval{200};

/// How many requests of a mount have ended: of the kernel, and to the server.
struct Position {
  std::uint64_t kernel = UINT64_MAX;  ///< more than there are: nothing that is over is shown
  std::uint64_t server = UINT64_MAX;
};

struct Followed {
  Mount mount;
  Position position;
};

/// "next K N"
bool read_position(std::string_view line, Position& position) {
  constexpr std::string_view kNext = "next ";
  if (!line.starts_with(kNext)) return false;
  line.remove_prefix(kNext.size());
  const char* const end = line.data() + line.size();
  const auto kernel = std::from_chars(line.data(), end, position.kernel);
  if (kernel.ec != std::errc() || kernel.ptr == end) return false;
  return std::from_chars(kernel.ptr + 1, end, position.server).ec == std::errc();
}

void print_ended(const Mount& mount, std::string_view request, bool json) {
  if (json) {
    fmt::print("{{\"mount_point\":{},\"request\":{}}}\n", json_string(mount.get("mount_point")),
               json_string(request));
  } else {
    fmt::print("{}: {}\n", shown(mount, "mount_point"), request);
  }
}

/// Prints the requests that have ended since the last look.
Result<void> look(Followed& each, bool json) {
  constexpr std::string_view kEnded = "ended ";
  const Position before = each.position;
  auto text = ask(each.mount, fmt::format("ended {} {}", before.kernel, before.server));
  if (!text) return fail_from(text);
  std::uint64_t printed = 0;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (read_position(line, each.position) || !line.starts_with(kEnded)) continue;
    print_ended(each.mount, line.substr(kEnded.size()), json);
    ++printed;
  }
  if (before.kernel == UINT64_MAX) return {};
  const std::uint64_t ended =
      each.position.kernel - before.kernel + each.position.server - before.server;
  if (ended > printed) {
    fmt::print(stderr,
               "nfsrdmactl: {} more have ended than the mount keeps; --interval= is too long\n",
               ended - printed);
  }
  return {};
}

}  // namespace

int follow_ended(const CommandLine& line) {
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  std::vector<Followed> followed;
  for (auto& mount : *mounts) followed.push_back({std::move(mount), {}});
  const auto interval = line.interval.count() > 0 ? line.interval : kInterval;
  for (unsigned done = 0; line.count == 0 || done <= line.count; ++done) {
    if (done > 0) std::this_thread::sleep_for(interval);
    std::erase_if(followed, [&](Followed& each) {
      const auto looked = look(each, line.json);
      return !looked;
    });
    std::fflush(stdout);
    if (followed.empty()) return done == 0 && !mounts->empty() ? kFailed : 0;
  }
  return 0;
}

}  // namespace nfsrdma::ctl
