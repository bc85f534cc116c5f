// Commands of a control socket to the transport, with any service behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/responder/transport/responder.h"
#include "transport/base/metrics.h"

namespace nfsrdma::responder {

/// A line of the control socket: its first word, and what follows.
struct Command {
  explicit Command(std::string_view line);
  std::string_view word;
  std::string_view argument;
};

/// A number at the start of it; nothing when there is none.
std::optional<std::uint32_t> number_at(std::string_view argument);

/// Answers "ok", "ok ID" or "error: REASON"; nothing for a word that is none of transport_help().
std::optional<std::string> run_transport_command(Responder& responder, const Command& command);
/// A line for each kind of fault, as a rule has it, and for each other command.
std::string transport_help();

/// Counters as text, a line "NAME VALUE" each.
class CounterText final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    text += std::string(name) + " " + std::to_string(value) + "\n";
  }
  std::string text;
};

}  // namespace nfsrdma::responder
