#include "tests/lab/replay/command.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "tests/lab/replay/replayer.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/script/server.h"
#include "tests/lab/subcommand.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::replay {
namespace {

namespace po = boost::program_options;
using script::complain;

/// How much of a statement and of a value is shown.
constexpr std::size_t kShown = 1000;
constexpr double kLongestPatience = 3600;

struct CommandLine {
  std::string file;
  std::vector<std::string> servers;
  std::string carrier;
  std::string script;
  std::string capture;
  std::size_t client = 0;
  double patience = 5;
  bool keep_going = false;
  bool help = false;
};

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, CommandLine& line) {
  po::options_description shown("nfsrdma-lab replay FILE SERVER [options]");
  auto add = shown.add_options();
  add("keep-going", po::bool_switch(&line.keep_going), "each difference, not the first alone");
  add("client", po::value(&line.client)->value_name("N"),
      "the Nth client of the capture (default: the one with the most calls)");
  add("script", po::value(&line.script)->value_name("FILE"),
      "write the calls as a script; then no server is needed");
  add("transport", po::value(&line.carrier)->value_name("NAME"), script::kCarrierHelp);
  add("patience", po::value(&line.patience)->value_name("S"),
      "how long a reply is waited for (default 5)");
  add("capture", po::value(&line.capture)->value_name("FILE"), "record the wire (pcapng)");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("file", po::value(&line.file))("server", po::value(&line.servers));
  po::positional_options_description positions;
  positions.add("file", 1).add("server", -1);
  const std::string fault = script::read_words(words, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  if (line.patience < 0 || line.patience > kLongestPatience)
    return "--patience is 0 to 3600 seconds";
  if (std::string wrong = script::carrier_fault(line.carrier); !wrong.empty()) return wrong;
  const bool enough = line.servers.size() == 1 || (line.servers.empty() && !line.script.empty());
  if (!line.help && (line.file.empty() || !enough)) return "replay takes a FILE and a SERVER";
  return {};
}

std::string shortened(const std::string& text) {
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

void show(const Step& step, const script::Difference& what) {
  fmt::print("frame {}: {}\n  capture: {}\n  server: {}\n  {}\n",
             step.reply_frame == 0 ? step.frame : step.reply_frame, what.where,
             shortened(what.first), shortened(what.second), shortened(step.text));
}

/// What of the capture is not issued again, in numbers.
void show_left_out(const Recording& recording, const Steps& steps, std::size_t chosen) {
  const auto say = [](std::size_t count, const char* what) {
    if (count != 0) fmt::print(stderr, "nfsrdma-lab: {} {}\n", count, what);
  };
  say(recording.incomplete, "calls left out: data that went by RDMA is not in the capture");
  say(steps.unreadable, "calls left out: their arguments do not decode");
  say(recording.refused, "calls left out: their SEQUENCE failed");
  say(recording.repeated, "calls left out: they were sent before");
  say(steps.delayed, "calls left out: the server wanted to see them later");
  if (recording.clients > 1 && chosen == 0) {
    fmt::print(stderr,
               "nfsrdma-lab: {0} clients are in the capture; the one with the most calls is taken: "
               "--client N, from 1 to {0}, takes another one\n",
               recording.clients);
  }
}

Result<void> write_script(const std::string& path, const std::string& from, const Steps& steps) {
  std::ofstream file(path, std::ios::binary);
  file << "# " << from << "\n" << steps.prologue;
  for (const Step& step : steps.steps) file << step.text << "  # frame " << step.frame << "\n";
  file.close();
  if (!file) return fail(Error::from_errno(errno, "replay", path));
  return {};
}

int replay(const CommandLine& line, const Steps& steps) {
  Network network;
  if (!line.capture.empty()) {
    auto captured = network.capture_to(line.capture);
    if (!captured) return complain(captured.error().message(), kExitFailed);
  }
  script::RunnerOptions options;
  script::Server server = script::read_server(line.servers.front(), line.carrier);
  options.server = std::move(server.address);
  options.carrier = std::move(server.carrier);
  options.path = std::move(server.path);
  options.patience = std::chrono::milliseconds(static_cast<std::int64_t>(line.patience * 1000));
  Replayer replayer(network, options, steps);
  auto begun = replayer.begin();
  if (!begun) return complain(begun.error().detail, kExitFailed);
  std::size_t differences = 0;
  replayer.run([&](const ReplayDifference& found) {
    ++differences;
    show(steps.steps[found.step], found.what);
    return line.keep_going;
  });
  replayer.end();
  if (replayer.unsaid() != 0) {
    fmt::print("{} calls not issued: they name what no answer had\n", replayer.unsaid());
  }
  fmt::print("{}: {} answers compared, {}\n", line.file, replayer.answers(),
             differences == 0  ? std::string("no difference")
             : line.keep_going ? fmt::format("{} differences", differences)
                               : std::string("ended at the first difference"));
  return differences == 0 && replayer.unsaid() == 0 ? 0 : kExitFound;
}

}  // namespace

int run_replay(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  log::set_level(log::Level::error);
  auto recording = read_recording(line.file, line.client);
  if (!recording) return complain(recording.error().message(), kExitFailed);
  if (!recording->damaged.empty()) complain(recording->damaged, 0);
  const bool rooted =
      !line.servers.empty() && !script::read_server(line.servers.front(), "").path.empty();
  const Steps steps = make_steps(*recording, rooted);
  show_left_out(*recording, steps, line.client);
  if (!line.script.empty()) {
    auto written = write_script(line.script, line.file, steps);
    if (!written) return complain(written.error().message(), kExitFailed);
  }
  return line.servers.empty() ? 0 : replay(line, steps);
}

}  // namespace nfsrdma::lab::replay
