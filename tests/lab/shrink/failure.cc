#include "tests/lab/shrink/failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/lab/script/reader.h"
#include "tests/lab/shrink/program.h"
#include "tests/lab/subcommand.h"

namespace nfsrdma::lab::shrink {
namespace {

constexpr std::string_view kPlace = "{}";

class ByServer final : public Judge {
 public:
  ByServer(Network& network, script::RunnerOptions options)
      : network_(network), options_(std::move(options)) {}

  Result<std::string> failure_of(const std::string& text) override {
    const auto read = script::read_script(text);
    if (!read) return std::string();
    script::Runner runner(network_, options_);
    const auto done = runner.run(*read);
    if (done || script::exit_status(done.error()) == kExitUsage) return std::string();
    return without_numbers(done.error().detail);
  }

 private:
  Network& network_;
  script::RunnerOptions options_;
};

/// A file that only this user can read, in a folder of its own; removed at the end.
class ByProgram final : public Judge {
 public:
  ByProgram(std::vector<std::string> words, Duration limit)
      : words_(std::move(words)), limit_(limit) {
    std::string folder = std::filesystem::temp_directory_path() / "nfsrdma-lab-XXXXXX";
    if (::mkdtemp(folder.data())) folder_ = folder;
  }
  ByProgram(const ByProgram&) = delete;
  ByProgram& operator=(const ByProgram&) = delete;
  ~ByProgram() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  Result<std::string> failure_of(const std::string& text) override {
    if (folder_.empty()) return fail(Error::local(EIO, "shrink", "no temporary folder"));
    const std::string path = folder_ + "/script.nfs";
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return fail(Error::from_errno(errno, "shrink", path));
    auto ended = run_program(words_for(path), limit_);
    if (ended && *ended == kSuccess) return std::string();
    return ended;
  }

 private:
  std::vector<std::string> words_for(const std::string& path) const {
    std::vector<std::string> words = words_;
    bool placed = false;
    for (std::string& word : words) {
      const std::size_t at = word.find(kPlace);
      if (at == std::string::npos) continue;
      word.replace(at, kPlace.size(), path);
      placed = true;
    }
    if (!placed) words.push_back(path);
    return words;
  }

  std::vector<std::string> words_;
  Duration limit_;
  std::string folder_;
};

}  // namespace

std::string without_numbers(const std::string& message) {
  std::string_view rest = message;
  const std::size_t line = rest.find(": ");
  if (line != std::string_view::npos) rest.remove_prefix(line + 2);
  constexpr std::string_view kHolds = "does not hold: ";
  const std::size_t holds = rest.find(kHolds);
  if (rest.starts_with("expectation ") && holds != std::string_view::npos) {
    rest.remove_prefix(holds + kHolds.size());
  }
  // What it was found in: everything of this run.
  rest = rest.substr(0, std::min(rest.find(" in {"), rest.find(": {")));
  constexpr std::string_view kXid = "xid=";
  std::string text(rest);
  const std::size_t xid = text.find(kXid);
  if (xid != std::string::npos) {
    std::size_t end = xid + kXid.size();
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    text.erase(xid, end - xid);
  }
  while (!text.empty() && text.back() == ',') text.pop_back();
  return text;
}

std::unique_ptr<Judge> judge_by_server(Network& network, script::RunnerOptions options) {
  return std::make_unique<ByServer>(network, std::move(options));
}

std::unique_ptr<Judge> judge_by_program(std::vector<std::string> words, Duration limit) {
  return std::make_unique<ByProgram>(std::move(words), limit);
}

}  // namespace nfsrdma::lab::shrink
