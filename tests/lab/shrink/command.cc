#include "tests/lab/shrink/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tests/lab/script/command_words.h"
#include "tests/lab/script/server.h"
#include "tests/lab/shrink/failure.h"
#include "tests/lab/shrink/program.h"
#include "tests/lab/shrink/reduce.h"
#include "tests/lab/shrink/source.h"
#include "tests/lab/subcommand.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::shrink {
namespace {

namespace po = boost::program_options;
using script::complain;

constexpr double kLongest = 3600;
/// How rerun ends (kExitUsage) where it has not run anything.
constexpr std::string_view kCannotRun = "exit status 2";

struct CommandLine {
  std::string file;
  std::vector<std::string> servers;
  std::vector<std::string> command;
  std::string carrier;
  std::string before;
  std::string out;
  std::string good;
  std::size_t tries = 1000;
  double patience = 2;
  double limit = 60;
  bool recording = false;  ///< FILE is one, and this program runs it
  bool help = false;
};

std::chrono::milliseconds seconds(double count) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(count * 1000));
}

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, CommandLine& line) {
  const auto dashes = std::find_if(words.begin(), words.end(),
                                   [](const char* word) { return std::string_view(word) == "--"; });
  if (dashes != words.end()) line.command.assign(dashes + 1, words.end());
  po::options_description shown("nfsrdma-lab shrink FILE [SERVER] [options] [-- COMMAND...]");
  auto add = shown.add_options();
  add("out", po::value(&line.out)->value_name("FILE"), "write the script there");
  add("tries", po::value(&line.tries)->value_name("N"), "how often it is tried (default 1000)");
  add("before", po::value(&line.before)->value_name("COMMAND"),
      "run by the shell before each try, to put the server back to what it was");
  add("good", po::value(&line.good)->value_name("LAB"),
      "of a recording: the nfsrdma-lab of a build that does it well");
  add("limit", po::value(&line.limit)->value_name("S"), "how long a command may run (default 60)");
  add("transport", po::value(&line.carrier)->value_name("NAME"), script::kCarrierHelp);
  add("patience", po::value(&line.patience)->value_name("S"),
      "how long a reply is waited for (default 2)");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("file", po::value(&line.file))("server", po::value(&line.servers));
  po::positional_options_description positions;
  positions.add("file", 1).add("server", -1);
  const auto own = words.first(static_cast<std::size_t>(dashes - words.begin()));
  const std::string fault = script::read_words(own, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  for (const double each : {line.patience, line.limit}) {
    if (each < 0 || each > kLongest) return "--patience and --limit are 0 to 3600 seconds";
  }
  if (std::string wrong = script::carrier_fault(line.carrier); !wrong.empty()) return wrong;
  if (!line.file.empty() && line.servers.empty() && line.command.empty() &&
      is_recording(line.file)) {
    line.recording = true;
    line.command = command_for(line.file, line.good);
  } else if (!line.good.empty()) {
    return "--good is for the recording of a mount";
  }
  const bool one = line.servers.size() + (line.command.empty() ? 0 : 1) == 1;
  if (!line.help && (line.file.empty() || !one))
    return "shrink takes a FILE, and a SERVER or a COMMAND";
  return {};
}

/// Brings the server back to what it was; an error when that fails.
Result<void> prepare(const CommandLine& line) {
  if (line.before.empty()) return {};
  auto ended = run_program({"/bin/sh", "-c", line.before}, seconds(line.limit));
  if (!ended) return fail_from(ended);
  if (*ended == kSuccess) return {};
  return fail(Error::local(EIO, "shrink", fmt::format("{}: {}", line.before, *ended)));
}

Result<void> write(const CommandLine& line, const std::string& text) {
  if (line.out.empty()) {
    fmt::print("{}", text);
    return {};
  }
  std::ofstream file(line.out, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(Error::from_errno(errno, "shrink", line.out));
  return {};
}

int shrink(const CommandLine& line, Network& network) {
  script::RunnerOptions options;
  options.patience = seconds(line.patience);
  if (!line.servers.empty()) {
    script::Server server = script::read_server(line.servers.front(), line.carrier);
    options.server = std::move(server.address);
    options.carrier = std::move(server.carrier);
    options.path = std::move(server.path);
  }
  const bool by_server = line.command.empty();
  auto prepared = prepare(line);
  if (!prepared) return complain(prepared.error().detail, kExitFailed);
  const auto source = read_source(line.file, by_server ? &network : nullptr, options);
  if (!source && source.error().layer == Layer::system)
    return complain(source.error().message(), kExitFailed);
  if (!source) return complain(source.error().detail, kExitUsage);
  const auto judge = by_server ? judge_by_server(network, options)
                               : judge_by_program(line.command, seconds(line.limit));
  std::optional<Error> broken;
  const auto failure_of = [&](const std::string& text) -> std::string {
    if (broken) return {};
    auto ready = prepare(line);
    if (!ready) broken = ready.error();
    if (broken) return {};
    auto failure = judge->failure_of(text);
    if (!failure) broken = failure.error();
    return failure ? *failure : std::string();
  };
  const Part whole = read_parts(*source);
  const std::string failure = failure_of(to_text(whole));
  if (broken) return complain(broken->detail, kExitFailed);
  if (failure.empty()) return complain(line.file + ": it does not fail", kExitUsage);
  if (line.recording && failure == kCannotRun) {
    return complain(line.file + ": rerun cannot run it", kExitUsage);
  }
  Reducer reducer(whole, line.tries,
                  [&](const std::string& text) { return failure_of(text) == failure; });
  const Part& least = reducer.run();
  if (broken) return complain(broken->detail, kExitFailed);
  auto written = write(line, to_text(least));
  if (!written) return complain(written.error().message(), kExitFailed);
  fmt::print(stderr,
             "{}: {} of {} statements and {} of {} operations are left after {} tries{}\n{}\n",
             line.file, count_statements(least), count_statements(whole), count_operations(least),
             count_operations(whole), reducer.tried(),
             reducer.exhausted() ? ", which --tries has ended" : "", failure);
  return 0;
}

}  // namespace

int run_shrink(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  log::set_level(log::Level::error);
  Network network;
  return shrink(line, network);
}

}  // namespace nfsrdma::lab::shrink
