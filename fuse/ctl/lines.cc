#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "fuse/ctl/command_line.h"
#include "fuse/ctl/json.h"

namespace nfsrdma::ctl {
namespace {

std::string as_json(const Mount& mount, std::string_view name, std::string_view text) {
  return fmt::format(R"({{"mount_point":{},{}:{}}})", json_string(mount.get("mount_point")),
                     json_string(name), json_string(text));
}

/// Lines of the daemon's answer that begin with `kind`, without that; in JSON called `name`.
int print_lines(const CommandLine& line, std::string_view request, std::string_view kind,
                std::string_view name) {
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  std::string json;
  for (const auto& mount : *mounts) {
    auto text = ask(mount.socket, request);
    if (!text) return say(text.error());
    if (!line.json) fmt::print("{}\n", headline(mount));
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view each = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), each.size() + 1));
      if (!each.starts_with(kind)) continue;
      each.remove_prefix(kind.size());
      if (!line.json) fmt::print("  {}\n", each);
      if (line.json) json += (json.empty() ? "" : ",") + as_json(mount, name, each);
    }
  }
  if (line.json) fmt::print("[{}]\n", json);
  return 0;
}

/// What changes something needs a mount that is named.
int tell(const CommandLine& line, std::string_view request) {
  if (line.words.empty()) {
    fmt::print(stderr, "nfsrdmactl: name the mount\n");
    return kUsage;
  }
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  for (const auto& mount : *mounts) {
    auto done = ask(mount.socket, request);
    if (!done) return say(done.error());
    fmt::print("{}", *done);
  }
  return 0;
}

}  // namespace

int waiting(const CommandLine& line) {
  return print_lines(line, "requests", "waiting ", "request");
}
int trace(const CommandLine& line) { return print_lines(line, "requests", "ended ", "request"); }
int state(const CommandLine& line) { return print_lines(line, "state", "", "state"); }
int reconnect(const CommandLine& line) { return tell(line, "reconnect"); }
int return_delegations(const CommandLine& line) { return tell(line, "return"); }

int set_log(const CommandLine& line) {
  if (line.words.empty()) {
    fmt::print(stderr, "nfsrdmactl: log LEVEL [MOUNT...]\n");
    return kUsage;
  }
  auto mounts = chosen({line.words.begin() + 1, line.words.end()});
  if (!mounts) return say(mounts.error());
  for (const auto& mount : *mounts) {
    auto done = ask(mount.socket, "log " + line.words.front());
    if (!done) return say(done.error());
  }
  return 0;
}

}  // namespace nfsrdma::ctl
