#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "fuse/ctl/command_line.h"
#include "fuse/ctl/follow.h"
#include "fuse/ctl/text.h"
#include "transport/base/line_text.h"
#include "transport/capture/pcapng_file.h"

namespace nfsrdma::ctl {
namespace {

std::string as_json(const Mount& mount, std::string_view name, std::string_view text) {
  return fmt::format(R"({{"mount_point":{},{}:{}}})", json_string(mount.get("mount_point")),
                     json_string(name), json_string(text));
}

/// What the daemon says it has done.
void print_done(const CommandLine& line, std::string_view name,
                const std::vector<std::pair<Mount, std::string>>& all) {
  std::string json;
  for (const auto& [mount, text] : all) {
    if (!line.json) fmt::print("{}", text);
    json += (json.empty() ? "" : ",") + as_json(mount, name, text.substr(0, text.find('\n')));
  }
  if (line.json) fmt::print("[{}]\n", json);
}

/// Lines of the daemon's answer that begin with `kind`, without that; in JSON called `name`.
int print_lines(const CommandLine& line, std::string_view request, std::string_view kind,
                std::string_view name) {
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  std::string json;
  auto texts = ask_each(*mounts, request);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Mount& mount = (*mounts)[i];
    const auto& text = texts[i];
    if (!text) return say(text.error());
    if (!line.json) fmt::print("{}\n", headline(mount));
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view each = take_line(rest);
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
  std::vector<std::pair<Mount, std::string>> all;
  for (auto& mount : *mounts) {
    auto done = ask(mount, request);
    if (!done) return say(done.error());
    all.emplace_back(std::move(mount), std::move(*done));
  }
  print_done(line, "done", all);
  return 0;
}

/// "capture on capture_view=rpc capture_snap=128"
std::string capture_request(const CommandLine& line) {
  std::string request = "capture on";
  if (!line.view.empty()) request += " capture_view=" + line.view;
  if (line.snap != 0) request += fmt::format(" capture_snap={}", line.snap);
  if (line.size != 0) request += fmt::format(" capture_size={}", line.size);
  return request;
}

int capture_on(const CommandLine& line, const std::string& file, const std::string& name) {
  const bool blank = line.view.find_first_of(" \n") != std::string::npos;
  if (line.ring == 1 || line.ring > capture::kMostFiles || (line.size != 0 && line.ring == 0) ||
      blank) {
    fmt::print(stderr, "nfsrdmactl: --ring is 2 to {} files, and --size theirs\n",
               capture::kMostFiles);
    return kUsage;
  }
  auto mount = find_mount(name);
  if (!mount) return say(mount.error());
  // Or the file of the one that is going on would be emptied.
  if (mount->get("capture") == "on") {
    return say(Error::local(EBUSY, "capture", "one is going on; capture off ends it"));
  }
  // Opened here: the daemon might wait for itself, and a file of this user may not be its user's.
  auto opened = capture::open_capture_files(file, std::max(line.ring, 1U));
  if (!opened) return say(opened.error());
  std::vector<int> files;
  for (const UniqueFd& each : *opened) files.push_back(each.get());
  auto done = ask(*mount, capture_request(line), files);
  if (!done) return say(done.error());
  print_done(line, "done", {{std::move(*mount), std::move(*done)}});
  return 0;
}

}  // namespace

int waiting(const CommandLine& line) {
  return print_lines(line, "requests", "waiting ", "request");
}
int trace(const CommandLine& line) {
  if (line.follow) return follow_ended(line);
  return print_lines(line, "requests", "ended ", "request");
}
int state(const CommandLine& line) { return print_lines(line, "state", "", "state"); }
int reconnect(const CommandLine& line) { return tell(line, "reconnect"); }
int return_delegations(const CommandLine& line) { return tell(line, "return"); }
int drop(const CommandLine& line) { return tell(line, "drop"); }

int capture(const CommandLine& line) {
  const auto& words = line.words;
  if (words.size() == 3 && words[0] == "on") return capture_on(line, words[1], words[2]);
  if (words.size() == 2 && words[0] == "off") {
    CommandLine rest = line;
    rest.words.erase(rest.words.begin());
    return tell(rest, "capture off");
  }
  fmt::print(stderr, "nfsrdmactl: capture on FILE MOUNT, or capture off MOUNT\n");
  return kUsage;
}

int set_log(const CommandLine& line) {
  if (line.words.empty()) {
    fmt::print(stderr, "nfsrdmactl: log LEVEL [MOUNT...]\n");
    return kUsage;
  }
  auto mounts = chosen({line.words.begin() + 1, line.words.end()});
  if (!mounts) return say(mounts.error());
  std::vector<std::pair<Mount, std::string>> all;
  const auto done = ask_each(*mounts, "log " + line.words.front());
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (!done[i]) return say(done[i].error());
    all.emplace_back(std::move((*mounts)[i]), "");
  }
  print_done(line, "done", all);
  return 0;
}

}  // namespace nfsrdma::ctl
