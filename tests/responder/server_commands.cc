// The commands of the control socket that are about the NFS service.
#include <algorithm>
#include <array>

#include "tests/responder/server.h"
#include "tests/responder/transport/commands.h"
#include "tests/responder/transport/fault_words.h"

namespace nfsrdma::responder {
namespace {

std::string restart(Server& server, std::string_view grace) {
  const auto seconds = number_at(grace);
  seconds ? server.service().restart(*seconds) : server.service().restart();
  return "ok";
}

std::string reboot(Server& server, std::string_view grace) {
  server.responder().disconnect_all("reboot");
  return restart(server, grace);
}

std::string end_grace(Server& server, std::string_view) {
  server.service().end_grace();
  return "ok";
}

std::string expire(Server& server, std::string_view) {
  return "ok " + std::to_string(server.service().expire_clients());
}

std::string recall(Server& server, std::string_view keep) {
  const auto number = number_at(keep);
  if (!number) return "ok " + std::to_string(server.service().recall_delegations());
  server.service().recall_any_delegations(*number);
  return "ok";
}

std::string revoke_locks(Server& server, std::string_view) {
  return "ok " + std::to_string(server.service().revoke_locks());
}

std::string forget_sessions(Server& server, std::string_view) {
  server.service().destroy_sessions();
  return "ok";
}

std::string set_slots(Server& server, std::string_view slots, bool recall) {
  const auto number = number_at(slots);
  if (number) server.service().set_target_slots(*number, recall);
  return number ? "ok" : "error: no number of slots";
}

std::string target_slots(Server& server, std::string_view slots) {
  return set_slots(server, slots, false);
}

std::string recall_slots(Server& server, std::string_view slots) {
  return set_slots(server, slots, true);
}

/// NAME [N] [cut=BYTES]
std::string callback(Server& server, std::string_view argument) {
  constexpr std::string_view kCut = "cut=";
  const std::string_view name = take_until(argument, ' ');
  std::uint32_t count = 1;
  std::size_t cut = SIZE_MAX;
  while (!argument.empty()) {
    std::string_view word = take_until(argument, ' ');
    const bool cuts = word.starts_with(kCut);
    if (cuts) word.remove_prefix(kCut.size());
    const auto number = number_in<std::uint32_t>(word);
    if (!number) return "error: '" + std::string(word) + "' is no number";
    if (cuts) {
      cut = *number;
    } else {
      count = *number;
    }
  }
  const auto sent = server.service().send_callbacks(name, count, cut);
  return sent ? "ok " + std::to_string(*sent) : "error: no callback '" + std::string(name) + "'";
}

struct Row {
  std::string_view word;
  std::string_view argument;
  std::string (*run)(Server&, std::string_view argument);
};
constexpr std::array<Row, 10> kRows = {{
    {"restart", " [S]", restart},
    {"reboot", " [S]", reboot},
    {"end-grace", "", end_grace},
    {"expire", "", expire},
    {"recall", " [N]", recall},
    {"revoke-locks", "", revoke_locks},
    {"forget-sessions", "", forget_sessions},
    {"target-slots", " N", target_slots},
    {"recall-slots", " N", recall_slots},
    {"callback", "", callback},
}};

std::string help() {
  std::string text = transport_help();
  for (const Row& row : kRows) {
    if (row.word != "callback") text += std::string(row.word) + std::string(row.argument) + "\n";
  }
  for (const auto& name : NfsService::callback_names()) {
    text += "callback " + name + " [N] [cut=BYTES]\n";
  }
  return text + "stats\nhelp\nok";
}

}  // namespace

std::string Server::run_command(const std::string& line) {
  const Command command(line);
  if (auto answer = run_transport_command(*responder_, command)) return *answer;
  if (command.word == "stats") return counters_text() + "ok";
  if (command.word == "help") return help();
  const auto* row = std::ranges::find(kRows, command.word, &Row::word);
  if (row != kRows.end()) return row->run(*this, command.argument);
  return "error: no command '" + std::string(command.word) + "'; help lists them";
}

}  // namespace nfsrdma::responder
