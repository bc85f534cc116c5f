// The subcommand probe: its command line, the table and JSON.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "tests/lab/probe/probe.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/subcommand.h"
#include "transport/base/log.h"

namespace nfsrdma::lab::probe {
namespace {

namespace po = boost::program_options;
using script::complain;
using script::read_words;

/// Bytes of a message that JSON shows.
constexpr std::size_t kShownBytes = 512;

struct CommandLine {
  std::vector<std::string> servers;
  std::vector<std::string> others;
  std::string carrier = "iwarp";
  std::string capture;
  std::string only;
  double patience = 2;
  bool json = false;
  bool risky = false;
  bool help = false;
};

std::string parse(std::span<char*> words, CommandLine& line) {
  po::options_description shown("nfsrdma-lab probe SERVER [options]");
  auto add = shown.add_options();
  add("transport", po::value(&line.carrier)->value_name("NAME"),
      "iwarp (default), verbs or tcp, for servers that name none");
  add("compare", po::value(&line.others)->value_name("SERVER"), "another server; may be repeated");
  add("only", po::value(&line.only)->value_name("TEXT"), "rows that have this text in them");
  add("patience", po::value(&line.patience)->value_name("S"), "what is no answer (default 2)");
  add("capture", po::value(&line.capture)->value_name("FILE"), "record the wire (pcapng)");
  add("risky", po::bool_switch(&line.risky), "rows, too, of which a server has gone down");
  add("json", po::bool_switch(&line.json), "with the messages that prove each answer");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("server", po::value(&line.servers));
  po::positional_options_description positions;
  positions.add("server", -1);
  const std::string fault = read_words(words, shown, hidden, positions);
  if (!fault.empty()) return fault;
  if (line.help) std::cout << shown;
  constexpr double kLongestPatience = 600;
  if (!line.help && line.servers.size() != 1) return "probe takes one SERVER";
  const bool sensible = line.patience > 0 && line.patience <= kLongestPatience;
  if (!sensible) return "--patience: more than 0, up to 600 seconds";
  return script::carrier_fault(line.carrier);
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < ' ' || byte > '~' ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return out + "\"";
}

std::string json_message(const Bytes& bytes) {
  return json_text(to_hex(std::span(bytes).first(std::min(bytes.size(), kShownBytes))));
}

std::string as_json(const Server& server, const Answer& answer) {
  return fmt::format(
      R"({{"server":{},"answer":{},"detail":{},"sent":{},"came":{},"sent_frame":{},"came_frame":{}}})",
      json_text(server.text), json_text(answer.text), json_text(answer.detail),
      json_message(answer.proof.sent), json_message(answer.proof.came), answer.proof.sent_frame,
      answer.proof.came_frame);
}

/// "yes [12 15]": the frames of the last message and of its answer, where there is a capture.
std::string as_cell(const Answer& answer) {
  const auto& proof = answer.proof;
  if (proof.sent_frame == 0 || answer.text == "-") return answer.text;
  if (proof.came_frame == 0) return fmt::format("{} [{}]", answer.text, proof.sent_frame);
  return fmt::format("{} [{} {}]", answer.text, proof.sent_frame, proof.came_frame);
}

bool is_chosen(const Row& row, const CommandLine& line) {
  if (row.risk && !line.risky) return false;
  return std::string_view(row.rule).find(line.only) != std::string_view::npos ||
         std::string_view(row.section).find(line.only) != std::string_view::npos;
}

/// One line of the table, or one object.
void print_row(const Row& row, std::vector<std::unique_ptr<Probe>>& probes, bool json,
               const char*& separator) {
  std::string answers;
  for (auto& probe : probes) {
    const Answer answer = probe->ask(row);
    answers += json ? (answers.empty() ? "" : ",") + as_json(probe->server(), answer)
                    : fmt::format(" {} |", as_cell(answer));
  }
  if (json) {
    fmt::print("{}\n {{\"section\":{},\"rule\":{},\"answers\":[{}]}}",
               std::exchange(separator, ","), json_text(row.section), json_text(row.rule), answers);
  } else {
    fmt::print("| {} | {} |{}\n", row.section, row.rule, answers);
  }
  std::fflush(stdout);
}

void print_head(const std::vector<std::unique_ptr<Probe>>& probes) {
  std::string names, lines;
  for (const auto& probe : probes) {
    names += fmt::format(" {} |", probe->server().text);
    lines += "---|";
  }
  fmt::print("| section | rule |{}\n|---|---|{}\n", names, lines);
}

Result<std::vector<std::unique_ptr<Probe>>> set_up(Network& network, const CommandLine& line) {
  std::vector<std::unique_ptr<Probe>> probes;
  std::vector<std::string> all = line.servers;
  all.insert(all.end(), line.others.begin(), line.others.end());
  const auto patience = std::chrono::milliseconds(static_cast<std::int64_t>(line.patience * 1000));
  for (const std::string& text : all) {
    auto& probe = probes.emplace_back(
        std::make_unique<Probe>(network, script::read_server(text, line.carrier), patience));
    auto ready = probe->set_up();
    if (ready) continue;
    if (ready.error().step == std::string_view(script::kConnectStep)) return fail_from(ready);
    complain(fmt::format("{}: no file can be made, and rows that need one say no: {}", text,
                         ready.error().detail),
             0);
  }
  return probes;
}

}  // namespace

int run_probe(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  log::set_level(log::Level::off);
  Network network;
  if (!line.capture.empty()) {
    auto captured = network.capture_to(line.capture);
    if (!captured) return complain(captured.error().message(), kExitFailed);
  }
  auto probes = set_up(network, line);
  if (!probes) return complain(probes.error().detail, kExitFailed);
  const char* separator = "";
  if (line.json) {
    fmt::print("[");
  } else {
    print_head(*probes);
  }
  for (const auto group : all_rows()) {
    for (const Row& row : group) {
      if (is_chosen(row, line)) print_row(row, *probes, line.json, separator);
    }
  }
  if (line.json) fmt::print("\n]\n");
  for (auto& probe : *probes) probe->clean_up();
  return 0;
}

}  // namespace nfsrdma::lab::probe
