#include "tests/lab/rerun/command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/lab/rerun/reduced.h"
#include "tests/lab/rerun/rerun.h"
#include "tests/lab/rerun/words.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/shrink/output.h"
#include "tests/lab/subcommand.h"
#include "tests/lab/text/file.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::rerun {
namespace {

namespace po = boost::program_options;
using script::complain;

struct CommandLine {
  std::string file;
  std::string requests;
  std::string good;
  bool list = false;
  bool list_requests = false;
  bool print = false;
  bool verbose = false;
  bool help = false;
};

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, CommandLine& line) {
  po::options_description shown("nfsrdma-lab rerun FILE [options]");
  auto add = shown.add_options();
  add("list", po::bool_switch(&line.list), "print what FILE has, and run nothing");
  add("list-requests", po::bool_switch(&line.list_requests),
      "print what can be left out, a line each, and run nothing");
  add("requests", po::value(&line.requests)->value_name("LIST"),
      "leave out what is not in LIST, lines of --list-requests");
  add("print", po::bool_switch(&line.print), "with --requests: print what is given out");
  add("good", po::value(&line.good)->value_name("LAB"),
      "with --requests: compare with what this command gives out, another build's nfsrdma-lab");
  add("verbose,v", po::bool_switch(&line.verbose), "print the client's log");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("file", po::value(&line.file));
  po::positional_options_description positions;
  positions.add("file", 1);
  const std::string fault = script::read_words(words, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  if (!line.help && line.file.empty()) return "rerun takes a FILE";
  if (line.requests.empty() && (line.print || !line.good.empty()))
    return "--print and --good need --requests";
  return {};
}

/// Ends the program at once: what is in flight has no end, and is not destroyed.
[[noreturn]] void end(int status) {
  std::fflush(nullptr);
  std::_Exit(status);
}

double seconds(TimePoint time) { return std::chrono::duration<double>(time).count(); }

TimePoint begin_of(const Recording& recording) {
  return recording.entries.empty() ? TimePoint{0} : recording.entries.front().time;
}

void print_list(const Recording& recording) {
  std::size_t place = 0;
  for (const Entry& entry : recording.entries) {
    fmt::print("{:6} {:11.6f} {}{}\n", ++place, seconds(entry.time - begin_of(recording)),
               entry.nested ? "  " : "", to_words(entry));
  }
}

/// A debugger stops here to see what gave the message.
[[noreturn]] void end_at_difference(const Recording& recording, const Difference& found) {
  fmt::print("entry {} of {}, after {:.6f} s, is another:\n", found.entry, recording.entries.size(),
             seconds(found.time - begin_of(recording)));
  fmt::print("  recorded: {}\n", found.recorded.empty() ? "nothing" : found.recorded);
  fmt::print("  rerun:    {}\n", found.made.empty() ? "nothing" : found.made);
  end(kExitFound);
}

[[noreturn]] void rerun_all(const Recording& recording) {
  auto outcome = run_again(
      recording, [&recording](const Difference& found) { end_at_difference(recording, found); });
  if (!outcome) end(complain(outcome.error().message(), kExitUsage));
  fmt::print("{} entries of {:.3f} s: the same{}\n", outcome->entries,
             seconds(outcome->last - outcome->first),
             recording.ended ? "" : "; the recording ends in the midst of the mount");
  end(0);
}

Result<std::vector<std::size_t>> list_in(const std::string& path) {
  auto text = read_whole(path, "rerun");
  if (!text) return fail_from(text);
  return read_list(*text);
}

/// The first line that another build does not give out.
[[noreturn]] void compare(const CommandLine& line, const std::vector<std::string>& given) {
  const auto good =
      shrink::lines_of(line.good, {"rerun", line.file, "--requests", line.requests, "--print"});
  if (!good) end(complain(good.error().message(), kExitFailed));
  for (std::size_t i = 0; i < std::max(given.size(), good->size()); ++i) {
    const std::string here = i < given.size() ? given[i] : "nothing";
    const std::string there = i < good->size() ? (*good)[i] : "nothing";
    if (here == there) continue;
    for (std::size_t before = 0; before < i; ++before) fmt::print("{}\n", given[before]);
    fmt::print("differs:\n  good: {}\n  here: {}\n", there, here);
    end(kExitFound);
  }
  fmt::print("{} lines: the same\n", given.size());
  end(0);
}

[[noreturn]] void rerun_some(const CommandLine& line, const Recording& recording) {
  auto list = list_in(line.requests);
  if (!list) end(complain(list.error().message(), kExitUsage));
  auto outcome = run_reduced(recording, std::move(*list), [&recording](const Difference& found) {
    end_at_difference(recording, found);
  });
  if (!outcome) end(complain(outcome.error().message(), kExitUsage));
  if (line.print) {
    for (const std::string& each : outcome->given) fmt::print("{}\n", each);
    end(0);
  }
  if (!line.good.empty()) compare(line, outcome->given);
  fmt::print("{}\n", outcome->odd.empty() ? "nothing that the recording has not"
                                          : "not in the recording:\n" + outcome->odd);
  end(outcome->odd.empty() ? 0 : kExitFound);
}

}  // namespace

int run_rerun(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  log::set_level(line.verbose ? log::Level::debug : log::Level::error);
  const auto recording = read_recording(line.file);
  if (!recording) return complain(recording.error().message(), kExitUsage);
  if (line.list) {
    print_list(*recording);
    return 0;
  }
  if (line.list_requests) {
    fmt::print("{}", list_of(*recording));
    return 0;
  }
  if (!line.requests.empty()) rerun_some(line, *recording);
  rerun_all(*recording);
}

}  // namespace nfsrdma::lab::rerun
