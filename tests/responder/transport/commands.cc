#include "tests/responder/transport/commands.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tests/responder/transport/fault_kinds.h"
#include "tests/responder/transport/fault_words.h"

namespace nfsrdma::responder {
namespace {

std::string add_fault(Responder& responder, std::string_view spec) {
  auto id = responder.add_fault(spec);
  return id ? "ok " + std::to_string(*id) : "error: " + id.error().message();
}

std::string remove_fault(Responder& responder, std::string_view id) {
  return responder.remove_fault(number_at(id).value_or(0)) ? "ok" : "error: no such rule";
}

std::string clear(Responder& responder, std::string_view) {
  responder.clear_faults();
  return "ok";
}

std::string stop(Responder& responder, std::string_view) {
  responder.stop_answering();
  return "ok";
}

std::string go_on(Responder& responder, std::string_view) {
  responder.resume_answering();
  return "ok";
}

std::string disconnect(Responder& responder, std::string_view) {
  responder.disconnect_all("control socket");
  return "ok";
}

std::string request(Responder& responder, std::string_view size) {
  const auto bytes = number_at(size);
  if (bytes) responder.request_receive_size(*bytes);
  return bytes ? "ok" : "error: no size";
}

std::string raise(Responder& responder, std::string_view size) {
  const auto bytes = number_at(size);
  if (bytes) responder.raise_receive_size(*bytes);
  return bytes ? "ok" : "error: no size";
}

struct Row {
  std::string_view word;
  std::string_view argument;
  std::string (*run)(Responder&, std::string_view argument);
};
constexpr std::array<Row, 8> kRows = {{
    {"fault", "", add_fault},
    {"remove", " ID", remove_fault},
    {"clear", "", clear},
    {"stop", "", stop},
    {"continue", "", go_on},
    {"disconnect", "", disconnect},
    {"request", " N", request},
    {"raise", " N", raise},
}};

}  // namespace

Command::Command(std::string_view line) : argument(line) { word = take_until(argument, ' '); }

std::optional<std::uint32_t> number_at(std::string_view argument) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(argument.data(), argument.data() + argument.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::string> run_transport_command(Responder& responder, const Command& command) {
  const auto* row = std::ranges::find(kRows, command.word, &Row::word);
  if (row == kRows.end()) return std::nullopt;
  return row->run(responder, command.argument);
}

std::string transport_help() {
  std::string text;
  for (const auto& kind : fault_kinds()) text += "fault " + kind + "\n";
  for (const auto& kind : lie_kinds()) text += "fault " + kind + "\n";
  for (const Row& row : kRows) {
    if (row.word != "fault") text += std::string(row.word) + std::string(row.argument) + "\n";
  }
  return text;
}

}  // namespace nfsrdma::responder
