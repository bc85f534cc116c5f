#include "tests/lab/import/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>

#include "tests/lab/import/script_maker.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/subcommand.h"
#include "transport/base/result.h"

namespace nfsrdma::lab::import {
namespace {

namespace po = boost::program_options;
using script::complain;

constexpr std::size_t kMostText = std::size_t{256} << 20;
constexpr std::size_t kMostCalls = 100000;

struct CommandLine {
  std::string file;
  std::string output;
  std::string mount;
  std::size_t count = 100;
  std::uint64_t seed = 1;
  bool help = false;
};

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, CommandLine& line) {
  po::options_description shown("nfsrdma-lab import FILE [options]");
  auto add = shown.add_options();
  add("output,o", po::value(&line.output)->value_name("SCRIPT"),
      "write the script there (default: standard output)");
  add("mount", po::value(&line.mount)->value_name("POINT"),
      "of mountstats: the mount there (default: the one with the most requests)");
  add("count", po::value(&line.count)->value_name("N"),
      "of mountstats: so many calls in all (default 100)");
  add("seed", po::value(&line.seed)->value_name("N"),
      "of mountstats: decides their order (default 1)");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("file", po::value(&line.file));
  po::positional_options_description positions;
  positions.add("file", 1);
  const std::string fault = script::read_words(words, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  if (line.count == 0 || line.count > kMostCalls) return "--count is 1 to 100000";
  if (!line.help && line.file.empty()) return "import takes a FILE";
  return {};
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Error::from_errno(errno, "import", path));
  std::string text;
  constexpr std::size_t kPiece = 1 << 20;
  while (file && text.size() <= kMostText) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return fail(Error::from_errno(errno, "import", path));
  if (text.size() > kMostText) {
    return fail(Error::local(EFBIG, "import", path + " is larger than 256 MiB"));
  }
  return text;
}

std::optional<MountStatistics> choose(std::vector<MountStatistics> mounts, const std::string& at) {
  auto chosen = mounts.end();
  if (at.empty()) {
    chosen = std::ranges::max_element(mounts, {}, &MountStatistics::requests);
  } else {
    chosen = std::ranges::find(mounts, at, &MountStatistics::mount_point);
  }
  if (chosen == mounts.end()) return {};
  return std::move(*chosen);
}

/// What the script comes from, as a comment; what is not in it goes to standard error.
Result<MadeScript> make(const CommandLine& line, const std::string& text) {
  if (auto mounts = read_mountstats(text); !mounts.empty()) {
    auto mount = choose(std::move(mounts), line.mount);
    if (!mount) return fail(Error::local(ENOENT, "import", "no mount of NFS at " + line.mount));
    MadeScript made = make_script(*mount, line.count, line.seed);
    made.text = fmt::format("# {} of {} requests of a mount, from mountstats\n", made.calls,
                            mount->requests()) +
                made.text;
    return made;
  }
  const Trace trace = read_trace(text);
  MadeScript made = make_script(trace);
  made.left_out += trace.dropped;
  if (made.calls == 0) {
    return fail(Error::local(EINVAL, "import",
                             line.file + " has neither calls in events of rpcrdma, sunrpc or nfs4 "
                                         "nor statistics of mounts"));
  }
  made.text =
      fmt::format("# {} calls of a trace with {} events\n", made.calls, trace.events) + made.text;
  return made;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  if (path.empty()) {
    fmt::print("{}", text);
    return {};
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(Error::from_errno(errno, "import", path));
  return {};
}

}  // namespace

int run_import(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  auto text = read_text(line.file);
  if (!text) return complain(text.error().message(), kExitFailed);
  const auto made = make(line, *text);
  if (!made) return complain(made.error().message(), kExitFailed);
  const auto written = write_text(line.output, made->text);
  if (!written) return complain(written.error().message(), kExitFailed);
  if (made->left_out != 0) {
    fmt::print(stderr, "nfsrdma-lab: {} calls or operations left out: no script can issue them\n",
               made->left_out);
  }
  return 0;
}

}  // namespace nfsrdma::lab::import
