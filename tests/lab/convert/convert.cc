#include "tests/lab/convert/convert.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "tests/lab/convert/rpc_view.h"
#include "tests/lab/subcommand.h"

namespace nfsrdma::lab {
namespace {

constexpr std::string_view kViewOption = "--view";
constexpr std::string_view kOnlyView = "rpc";

void show(const ConvertSummary& summary) {
  fmt::print("{} frames, {} connections, {} messages\n", summary.frames, summary.connections,
             summary.messages);
  if (summary.incomplete != 0) {
    fmt::print("{} messages left out: data that went by RDMA is not in the capture\n",
               summary.incomplete);
  }
  if (summary.guessed != 0) {
    fmt::print("{} replies with their data at the end: their results do not decode\n",
               summary.guessed);
  }
  if (summary.broken != 0) {
    fmt::print("{} messages left out: their RPC-over-RDMA headers do not decode\n", summary.broken);
  }
}

}  // namespace

int run_convert(std::span<char*> words) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == kViewOption) {
      if (i + 1 == words.size() || words[++i] != kOnlyView) {
        fmt::print(stderr, "nfsrdma-lab convert: --view: the only one is rpc\n");
        return kExitUsage;
      }
    } else {
      files.emplace_back(word);
    }
  }
  if (files.size() != 2 || files[0].starts_with("-") || files[1].starts_with("-")) {
    fmt::print(stderr, "usage: nfsrdma-lab convert FILE OUT [--view rpc]\n");
    return kExitUsage;
  }
  const auto summary = convert_to_rpc_view(files[0], files[1]);
  if (!summary) {
    fmt::print(stderr, "nfsrdma-lab: {}\n", summary.error().message());
    return kExitFailed;
  }
  show(*summary);
  if (summary->damaged.empty()) return 0;
  fmt::print(stderr, "nfsrdma-lab: {}\n", summary->damaged);
  return kExitFailed;
}

}  // namespace nfsrdma::lab
