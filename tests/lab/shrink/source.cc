#include "tests/lab/shrink/source.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/lab/replay/replayer.h"
#include "tests/lab/shrink/output.h"
#include "tests/lab/text/file.h"
#include "transport/journal/entry.h"

namespace nfsrdma::lab::shrink {
namespace {

tl::unexpected<Error> cannot(const std::string& what) {
  return fail(Error::local(EINVAL, "shrink", what));
}

/// pcap in either byte order, with microseconds or nanoseconds, and pcapng.
bool is_capture(std::string_view text) {
  constexpr std::array<std::string_view, 5> kMagics = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1",
                                                       "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1",
                                                       "\x0a\x0d\x0d\x0a"};
  for (const std::string_view magic : kMagics) {
    if (text.starts_with(magic)) return true;
  }
  return false;
}

/// An expectation that holds where the captured server answers.
Result<std::string> expectation_of(const script::Difference& what) {
  if (what.where == "reply") return std::string();  // that none came is a failure by itself
  if (what.where.find("attr") != std::string::npos) {
    return cannot(
        fmt::format("{} differs: {} in the capture, {} now. No expectation reaches "
                    "an attribute: say with a command what fails",
                    what.where, what.first, what.second));
  }
  if (what.first == "an answer") return fmt::format("expect reply.{}\n", what.where);
  return fmt::format("expect reply.{} = {}\n", what.where, what.first);
}

Result<std::string> from_capture(const std::string& path, Network* network,
                                 const script::RunnerOptions& options) {
  auto recording = replay::read_recording(path, 0);
  if (!recording) return fail_from(recording);
  const replay::Steps steps = replay::make_steps(*recording, network && !options.path.empty());
  std::size_t count = steps.steps.size();
  std::string expectation;
  if (network) {
    std::optional<replay::ReplayDifference> found;
    replay::Replayer replayer(*network, options, steps);
    TRY(replayer.begin());
    replayer.run([&](const replay::ReplayDifference& each) {
      found = each;
      return false;
    });
    replayer.end();
    if (!found) return cannot("the server answers as the capture does: there is nothing to find");
    count = found->step + 1;
    auto expected = expectation_of(found->what);
    if (!expected) return fail_from(expected);
    expectation = *expected;
  }
  std::string text = steps.prologue;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}  # frame {}\n", steps.steps[i].text, steps.steps[i].frame);
  }
  return text + expectation;
}

/// This program: what runs the client is no part of this library.
constexpr const char* kOwnProgram = "/proc/self/exe";

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink(kOwnProgram, ignored).string();
}

Result<std::string> from_recording(const std::string& path) {
  const auto lines = lines_of("exec", {own_program(), "rerun", path, "--list-requests"});
  if (!lines) return cannot(path + ": " + lines.error().detail);
  std::string text;
  for (const std::string& line : *lines) text += line + '\n';
  return text;
}

}  // namespace

bool is_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(journal::kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == journal::kMagic;
}

std::vector<std::string> command_for(const std::string& recording, const std::string& good) {
  std::vector<std::string> words = {own_program(), "rerun", recording, "--requests", "{}"};
  if (!good.empty()) words.insert(words.end(), {"--good", good});
  return words;
}

Result<std::string> read_source(const std::string& path, Network* network,
                                const script::RunnerOptions& options) {
  if (is_recording(path)) return from_recording(path);
  auto text = read_whole(path, "shrink");
  if (!text || !is_capture(*text)) return text;
  return from_capture(path, network, options);
}

}  // namespace nfsrdma::lab::shrink
