// nfsrdmactl: what mounts of nfsrdma do, asked of their daemons.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuse/ctl/ask.h"
#include "fuse/ctl/command_line.h"
#include "fuse/ctl/counters.h"
#include "fuse/ctl/metrics.h"
#include "fuse/ctl/mountstats.h"
#include "fuse/ctl/per_operation.h"
#include "fuse/ctl/text.h"
#include "fuse/ctl/top.h"
#include "transport/base/line_text.h"
#include "transport/base/similar.h"

namespace nfsrdma::ctl {
namespace {

std::string identity_as_json(const Mount& mount) {
  std::string text = "{";
  for (const auto& [name, value] : mount.identity) {
    text +=
        fmt::format("{}{}:{}", text.size() > 1 ? "," : "", json_string(name), json_string(value));
  }
  return text + "}";
}

int list(const CommandLine& line) {
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  if (!line.json) {
    fmt::print("{:>8} {:<9} {:>8} {:<32} {:<32} {}\n", "pid", "state", "waiting", "mount point",
               "source", "connection");
  }
  std::string json;
  for (const auto& mount : *mounts) {
    if (line.json) {
      json += (json.empty() ? "" : ",") + identity_as_json(mount);
      continue;
    }
    fmt::print("{:>8} {:<9} {:>6} s {:<32} {:<32} {}\n", shown(mount, "pid"), shown(mount, "state"),
               shown(mount, "waiting_seconds"), shown(mount, "mount_point"), shown(mount, "source"),
               shown(mount, "connection"));
  }
  if (line.json) fmt::print("[{}]\n", json);
  return 0;
}

/// Prints something of the counters of each mount that is chosen.
template <class Print>
int with_counters(const CommandLine& line, Print&& print) {
  auto mounts = chosen(line.words);
  if (!mounts) return say(mounts.error());
  std::vector<std::pair<Mount, Counters>> all;
  auto counters = counters_of(*mounts);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (!counters[i]) return say(counters[i].error());
    all.emplace_back(std::move((*mounts)[i]), std::move(*counters[i]));
  }
  print(all);
  return 0;
}

using Counted = std::vector<std::pair<Mount, Counters>>;

void print_as_json(const Counted& all, std::string (*body)(const Mount&, const Counters&)) {
  std::string text;
  for (const auto& [mount, counters] : all) {
    text += fmt::format(R"({}{{"mount":{},{}}})", text.empty() ? "" : ",", identity_as_json(mount),
                        body(mount, counters));
  }
  fmt::print("[{}]\n", text);
}

int stat(const CommandLine& line) {
  return with_counters(line, [&](const Counted& all) {
    if (line.json) {
      return print_as_json(all, [](const Mount&, const Counters& counters) {
        return R"("operations":)" + operations_as_json(per_operation(counters));
      });
    }
    for (const auto& [mount, counters] : all) {
      fmt::print("{}\n{}\n", headline(mount), operation_table(per_operation(counters)));
    }
  });
}

constexpr std::chrono::milliseconds kTopInterval{2000};

int show_top(const CommandLine& line) {
  const auto shown = top(
      [&]() -> Result<Counted> {
        auto mounts = chosen(line.words);
        if (!mounts) return fail_from(mounts);
        Counted all;
        auto counters = counters_of(*mounts);
        for (std::size_t i = 0; i < counters.size(); ++i) {
          if (counters[i]) all.emplace_back(std::move((*mounts)[i]), std::move(*counters[i]));
        }
        return all;
      },
      line.interval.count() > 0 ? line.interval : kTopInterval, line.count, line.json);
  return shown ? 0 : say(shown.error());
}

int print_counters(const CommandLine& line) {
  return with_counters(line, [&](const Counted& all) {
    if (line.json) {
      return print_as_json(all, [](const Mount&, const Counters& counters) {
        std::string text;
        for (const auto& [name, value] : counters) {
          text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_string(name), value);
        }
        return R"("counters":{)" + text + "}";
      });
    }
    for (const auto& [mount, counters] : all) {
      fmt::print("# {}\n", headline(mount));
      for (const auto& [name, value] : counters) fmt::print("{} {}\n", name, value);
    }
  });
}

int print_mountstats(const CommandLine& line) {
  return with_counters(line, [&](const Counted& all) {
    if (line.json) return print_as_json(all, mountstats_as_json);
    for (const auto& [mount, counters] : all) fmt::print("{}", mountstats(mount, counters));
  });
}

int metrics(const CommandLine& line) {
  return with_counters(line, [&](const Counted& all) {
    fmt::print("{}", line.json ? metrics_as_json(all) + '\n' : open_metrics(all));
  });
}

struct Subcommand {
  std::string_view name;
  std::string_view arguments;
  std::string_view doc;
  int (*run)(const CommandLine& line);
};

constexpr std::array<Subcommand, 14> kSubcommands{{
    {"list", "", "the mounts: process, state, mount point, server, connection", list},
    {"stat", "", "each NFS operation: requests, errors by status, bytes, times", stat},
    {"top", "", "each operation's rates and times at present, every 2 seconds", show_top},
    {"waiting", "", "requests that wait: of the kernel and to the server, and for what", waiting},
    {"trace", "",
     "the last requests that ended, with the time of each stage; --follow: as they end", trace},
    {"state", "", "what is held at the server: opens, locks, delegations", state},
    {"counters", "", "every counter", print_counters},
    {"mountstats", "", "as /proc/self/mountstats, for mountstats(8)", print_mountstats},
    {"metrics", "", "OpenMetrics text, for Prometheus", metrics},
    {"log", " LEVEL", "what the log says from now on: trace, debug, info, warning or error",
     set_log},
    {"capture", " on FILE|off",
     "of a mount that is named: records what is sent, on a new connection", capture},
    {"drop", "", "what a mount that is named remembers of files is asked for anew", drop},
    {"reconnect", "", "ends the connection of a mount that is named, and makes it anew", reconnect},
    {"return", "", "gives the delegations of a mount that is named back", return_delegations},
}};

int help(std::FILE* to) {
  fmt::print(to,
             "usage: nfsrdmactl SUBCOMMAND [--json] [MOUNT...]\n\n"
             "MOUNT is a mount point, a process id or a control socket; without one, all that "
             "answer.\n"
             "top and trace --follow take --interval=MILLISECONDS and --count=TIMES,\n"
             "capture on --view=wire|rpc|roce, --ring=FILES, --size=MIB and --snap=BYTES.\n\n");
  for (const auto& each : kSubcommands) {
    fmt::print(to, "  {:<21}{}\n", fmt::format("{}{}", each.name, each.arguments), each.doc);
  }
  return to == stdout ? 0 : kUsage;
}

/// One line, so that what is wrong is not pushed off the screen.
int say_wrong(std::string_view what) {
  fmt::print(stderr, "nfsrdmactl: {}; nfsrdmactl --help lists what there is\n", what);
  return kUsage;
}

int say_unknown(std::string_view name) {
  std::array<std::string_view, kSubcommands.size()> known;
  std::ranges::transform(kSubcommands, known.begin(), &Subcommand::name);
  const auto similar = most_similar(name, known);
  return say_wrong(fmt::format("there is no subcommand {}{}", name,
                               similar.empty() ? "" : fmt::format(" (did you mean {}?)", similar)));
}

/// Of "NAME=NUMBER".
bool read_number(std::string_view word, std::string_view name, unsigned& number) {
  const auto read = whole_number<unsigned>(word.substr(name.size()));
  number = read.value_or(number);
  return read.has_value();
}

int run(std::span<char*> arguments) {
  constexpr std::string_view kView = "--view=";
  CommandLine line;
  unsigned interval = 0;
  const std::pair<std::string_view, unsigned*> numbers[] = {{"--interval=", &interval},
                                                            {"--count=", &line.count},
                                                            {"--ring=", &line.ring},
                                                            {"--size=", &line.size},
                                                            {"--snap=", &line.snap}};
  for (const std::string_view word : arguments.subspan(1)) {
    if (word == "--help" || word == "-h") return help(stdout);
    if (word == "--version" || word == "-V") {
      fmt::print("nfsrdmactl {}\n", NFSRDMA_VERSION);
      return 0;
    }
    const auto number = std::ranges::find_if(
        numbers, [word](const auto& each) { return word.starts_with(each.first); });
    if (number != std::end(numbers)) {
      if (read_number(word, number->first, *number->second)) continue;
      return say_wrong(fmt::format("{} is followed by a number", number->first));
    }
    if (word == "--json") {
      line.json = true;
    } else if (word == "--follow") {
      line.follow = true;
    } else if (word.starts_with(kView)) {
      line.view = word.substr(kView.size());
    } else if (word.starts_with('-')) {
      return say_wrong(fmt::format("there is no option {}", word));
    } else {
      line.words.emplace_back(word);
    }
  }
  line.interval = std::chrono::milliseconds(interval);
  if (line.words.empty()) return help(stderr);
  if (line.words.front() == "help") return help(stdout);
  const std::string name = line.words.front();
  line.words.erase(line.words.begin());
  for (const auto& each : kSubcommands) {
    if (each.name == name) return each.run(line);
  }
  return say_unknown(name);
}

}  // namespace
}  // namespace nfsrdma::ctl

int main(int argc, char** argv) {
  return nfsrdma::ctl::run({argv, static_cast<std::size_t>(argc)});
}
