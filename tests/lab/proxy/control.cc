#include "tests/lab/proxy/control.h"

#include <array>

#include "tests/responder/transport/commands.h"
#include "tests/responder/transport/fault_words.h"

namespace nfsrdma::lab::proxy {
namespace {

struct Refused {
  std::string_view kind;
  const char* why;
};
/// These are of the server's own service.
constexpr std::array<Refused, 2> kRefused = {{
    {"replay-cache", "a proxy has no replay cache: tell nfsrdma-responder, which has one"},
    {"unstable", "a proxy keeps no data that could be lost: tell nfsrdma-responder, which does"},
}};

}  // namespace

std::string refusal_of(std::string_view spec) {
  std::string_view rest = responder::take_until(spec, ':');
  const std::string_view kind = responder::take_until(rest, '=');
  for (const Refused& each : kRefused) {
    if (each.kind == kind) return std::string(kind) + ": " + each.why;
  }
  return {};
}

std::string help_text() {
  constexpr std::string_view kFault = "fault ";
  const std::string all = responder::transport_help();
  std::string text;
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view line = responder::take_until(rest, '\n');
    const bool refused =
        line.starts_with(kFault) && !refusal_of(line.substr(kFault.size())).empty();
    if (!refused) text += std::string(line) + "\n";
  }
  return text + "stats\nhelp\n";
}

}  // namespace nfsrdma::lab::proxy
