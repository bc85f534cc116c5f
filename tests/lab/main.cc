// nfsrdma-lab: problems of NFS over RDMA seen, made and cut down outside the kernel.
#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <string_view>

#include "tests/lab/convert/convert.h"
#include "tests/lab/import/command.h"
#include "tests/lab/lint/lint.h"
#include "tests/lab/probe/probe.h"
#include "tests/lab/proxy/command.h"
#include "tests/lab/replay/command.h"
#include "tests/lab/rerun/command.h"
#include "tests/lab/script/command.h"
#include "tests/lab/shrink/command.h"
#include "tests/lab/subcommand.h"

namespace nfsrdma::lab {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"convert", "FILE OUT [--view rpc]", "a capture as NFS over TCP, each RPC whole", run_convert},
    {"diff", "FILE SERVER SERVER", "what two servers answer differently to a script",
     script::run_diff},
    {"fault", "SOCKET COMMAND", "a word to the control socket of a proxy or a responder",
     proxy::run_fault},
    {"import", "FILE", "a trace of the kernel's client, or mountstats, as a script",
     import::run_import},
    {"lint", "FILE [--json]", "which side broke which rule first in a capture", run_lint},
    {"probe", "SERVER [--compare SERVER]", "what a server makes of each rule of the RFCs",
     probe::run_probe},
    {"proxy", "LISTEN SERVER", "stands between clients and a server, records, and breaks things",
     proxy::run_proxy},
    {"replay", "FILE SERVER", "issues what a capture has again, and compares the answers",
     replay::run_replay},
    {"rerun", "FILE [--list]", "runs the client on the recording of a mount, and compares",
     rerun::run_rerun},
    {"script", "FILE [SERVER]", "sends what the file says, and checks what comes back",
     script::run_script},
    {"shrink", "FILE [SERVER] [-- COMMAND]", "the least of a script or a capture that still fails",
     shrink::run_shrink},
};

void show_help(std::FILE* to) {
  fmt::print(to, "usage: nfsrdma-lab SUBCOMMAND [ARGUMENTS]\n\n");
  for (const Subcommand& each : kSubcommands) {
    fmt::print(to, "  {} {}\n      {}\n", each.name, each.arguments, each.doc);
  }
  fmt::print(to, "\nnfsrdma-lab(1) has a worked case of each.\n");
}

int run(std::span<char*> words) {
  if (words.size() < 2) {
    show_help(stderr);
    return kExitUsage;
  }
  const std::string_view name = words[1];
  if (name == "--help" || name == "-h") {
    show_help(stdout);
    return 0;
  }
  for (const Subcommand& each : kSubcommands) {
    if (each.name == name) return each.run(words.subspan(2));
  }
  fmt::print(stderr, "nfsrdma-lab: there is no subcommand {}\n\n", name);
  show_help(stderr);
  return kExitUsage;
}

}  // namespace
}  // namespace nfsrdma::lab

int main(int argc, char** argv) {
  return nfsrdma::lab::run({argv, static_cast<std::size_t>(argc)});
}
