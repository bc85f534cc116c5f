#include "tests/lab/script/command.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "tests/lab/script/command_words.h"
#include "tests/lab/script/compare.h"
#include "tests/lab/script/runner.h"
#include "tests/lab/script/server.h"
#include "tests/lab/subcommand.h"
#include "tests/lab/text/file.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::script {
namespace {

namespace po = boost::program_options;

constexpr const char* kReadStep = "script file";

struct CommandLine {
  std::string file;
  std::vector<std::string> servers;
  RunnerOptions runner;
  double patience = 5;
  std::string capture;
  bool all = false;
  bool help = false;
};

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, bool diff, CommandLine& line) {
  po::options_description shown(diff ? "nfsrdma-lab diff FILE SERVER SERVER [options]"
                                     : "nfsrdma-lab script FILE [SERVER] [options]");
  auto add = shown.add_options();
  add("transport", po::value(&line.runner.carrier)->value_name("NAME"),
      "iwarp (default), verbs or tcp, where connect names none");
  add("patience", po::value(&line.patience)->value_name("S"),
      "how long a reply is waited for (default 5)");
  add("capture", po::value(&line.capture)->value_name("FILE"), "record the wire (pcapng)");
  add("verbose,v", po::bool_switch(&line.runner.verbose), "print each message");
  if (diff) add("all", po::bool_switch(&line.all), "each difference, not the first alone");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("file", po::value(&line.file))("server", po::value(&line.servers));
  po::positional_options_description positions;
  positions.add("file", 1).add("server", -1);
  const std::string fault = read_words(words, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  constexpr double kLongestPatience = 3600;
  if (line.patience < 0 || line.patience > kLongestPatience)
    return "--patience is 0 to 3600 seconds";
  line.runner.patience = std::chrono::milliseconds(static_cast<std::int64_t>(line.patience * 1000));
  return carrier_fault(line.runner.carrier);
}

Result<Script> read_file(const std::string& path) {
  auto text = read_whole(path, kReadStep);
  if (!text) return fail_from(text);
  return read_script(*text);
}

void choose_server(const std::string& text, RunnerOptions& options) {
  Server server = read_server(text, options.carrier);
  options.server = std::move(server.address);
  options.carrier = std::move(server.carrier);
  options.path = std::move(server.path);
}

/// "FILE:LINE: what"; of a file that cannot be read, why.
int tell(const std::string& file, const Error& error) {
  if (error.layer == Layer::system) return complain(error.message(), kExitFailed);
  return complain(fmt::format("{}:{}", file, error.detail), exit_status(error));
}

}  // namespace

int run_script(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, false, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  if (line.file.empty() || line.servers.size() > 1) {
    return complain("script takes a FILE and at most one SERVER", kExitUsage);
  }
  auto script = read_file(line.file);
  if (!script) return tell(line.file, script.error());
  log::set_level(log::Level::error);
  Network network;
  if (!line.capture.empty()) {
    auto captured = network.capture_to(line.capture);
    if (!captured) return complain(captured.error().message(), kExitFailed);
  }
  if (!line.servers.empty()) choose_server(line.servers.front(), line.runner);
  Runner runner(network, line.runner);
  auto done = runner.run(*script);
  if (!done) return tell(line.file, done.error());
  fmt::print("{}: {} expectations hold\n", line.file, runner.expectations());
  return 0;
}

namespace {

/// What one of the servers does with the script.
Result<std::vector<Event>> events_of(const std::string& server, const CommandLine& line,
                                     const Script& script, Network& network) {
  RunnerOptions options = line.runner;
  options.keep_going = true;
  choose_server(server, options);
  Runner runner(network, options);
  auto done = runner.run(script);
  std::vector<Event> events = runner.events();
  if (!done && done.error().step != std::string_view(kExpectStep)) return fail_from(done);
  // What ends a script early is an event as well: without a session nothing follows.
  if (!done) events.push_back({0, "end", Node::quoted(done.error().detail)});
  return events;
}

}  // namespace

int run_diff(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, true, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  if (line.servers.size() != 2) return complain("diff takes a FILE and two SERVERs", kExitUsage);
  auto script = read_file(line.file);
  if (!script) return tell(line.file, script.error());
  log::set_level(log::Level::error);
  Network network;
  if (!line.capture.empty()) {
    auto captured = network.capture_to(line.capture);
    if (!captured) return complain(captured.error().message(), kExitFailed);
  }
  std::vector<std::vector<Event>> events;
  for (const std::string& server : line.servers) {
    auto of_one = events_of(server, line, *script, network);
    if (!of_one) return tell(line.file, of_one.error());
    events.push_back(std::move(*of_one));
  }
  const auto differences = find_differences(events[0], events[1]);
  for (const Difference& each : differences) {
    fmt::print("{}:{}: {}\n  {}: {}\n  {}: {}\n", line.file, each.line, each.where, line.servers[0],
               each.first, line.servers[1], each.second);
    if (!line.all) break;
  }
  if (differences.empty()) fmt::print("{}: no difference\n", line.file);
  return differences.empty() ? 0 : kExitFound;
}

}  // namespace nfsrdma::lab::script
