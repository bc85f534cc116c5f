#include "tests/lab/lint/lint.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/lint/report.h"
#include "tests/lab/subcommand.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab {
namespace {

/// What the codes of errors in findings mean.
void register_names() {
  register_code_namer(Layer::decode, xdr::fault_name);
  register_code_namer(Layer::rpc, rpc::fault_name);
}

}  // namespace

int run_lint(std::span<char*> words) {
  bool json = false;
  std::vector<std::string> files;
  for (const std::string_view word : words) {
    if (word == "--json") {
      json = true;
    } else {
      files.emplace_back(word);
    }
  }
  if (files.size() != 1 || files[0].starts_with("-")) {
    fmt::print(stderr, "usage: nfsrdma-lab lint FILE [--json]\n");
    return kExitUsage;
  }
  register_names();
  auto file = PacketFile::open(files[0]);
  if (!file) {
    fmt::print(stderr, "nfsrdma-lab: {}\n", file.error().message());
    return kExitFailed;
  }
  Linter linter;
  const CaptureSummary summary = read_capture(**file, linter);
  (json ? print_json : print_text)(stdout, summary, linter);
  if (!summary.damaged.empty()) {
    fmt::print(stderr, "nfsrdma-lab: {}\n", summary.damaged);
    return kExitFailed;
  }
  if (summary.connections == 0) {
    fmt::print(stderr, "nfsrdma-lab: {} has no connection of NFS\n", files[0]);
    return kExitFailed;
  }
  return linter.findings().broken() != 0 ? kExitFound : 0;
}

}  // namespace nfsrdma::lab
