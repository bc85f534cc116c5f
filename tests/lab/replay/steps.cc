#include "tests/lab/replay/steps.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "client/proto/attributes.h"
#include "tests/lab/replay/names.h"
#include "tests/lab/text/operations.h"
#include "tests/lab/text/parse.h"

namespace nfsrdma::lab::replay {
namespace {

/// What makes, binds and ends sessions: a replay has its own.
constexpr std::array<std::string_view, 8> kOfSessions = {
    "EXCHANGE_ID",          "CREATE_SESSION",  "DESTROY_SESSION",  "DESTROY_CLIENTID",
    "BIND_CONN_TO_SESSION", "BACKCHANNEL_CTL", "RECLAIM_COMPLETE", "SET_SSV"};
/// Bytes of one value from which on it is said by length and fill where it can be.
constexpr std::size_t kLongHex = 32;

bool is_delay(std::string_view status) {
  return status == "NFS4ERR_DELAY" || status == "NFS4ERR_GRACE";
}

/// "0x4141...": {length=N fill=0x41}; nothing for bytes that are not all the same.
std::optional<std::string> as_fill(const std::string& word) {
  if (word.size() < 2 + 2 * kLongHex || !word.starts_with("0x")) return std::nullopt;
  const std::string_view digits = std::string_view(word).substr(2);
  for (std::size_t i = 2; i + 1 < digits.size(); i += 2) {
    if (digits.substr(i, 2) != digits.substr(0, 2)) return std::nullopt;
  }
  return fmt::format("{{length={} fill=0x{}}}", digits.size() / 2, digits.substr(0, 2));
}

std::string operation_text(const std::string& name, const Node& arguments) {
  if (to_number(name)) return fmt::format("OP {{number={} body={}}}", name, to_text(arguments));
  if (arguments.kind == Node::Kind::record && arguments.items.empty()) return name;
  Node shown = arguments;
  name_attributes(shown);
  for (Node& item : shown.items) {
    // Only payload: a record in the place of other bytes would not be read.
    const bool payload = name == "WRITE" && item.kind == Node::Kind::word;
    if (const auto fill = payload ? as_fill(item.text) : std::nullopt) item = Node::word(*fill);
  }
  return name + " " + to_text(shown);
}

/// Makes statements of one recording.
class Maker {
 public:
  Maker(Recording& recording, bool rooted)
      : recording_(recording), names_(std::to_string(recording.client)) {
    all_.rooted = rooted;
  }

  Steps make();

 private:
  struct Named {
    Step step;
    std::string name;
  };

  void find_used_handles();
  void add(Exchange& exchange);
  bool skipped(const Node& arguments, const Node& results);
  std::string said(const std::string& operation, const Node& arguments);
  std::string options(const Exchange& exchange, const Node& arguments) const;
  void learn(const Node& arguments, const Node& results, const std::string& name,
             const Exchange& exchange);
  void find_entries(const Node& readdir, const std::string& directory, const Exchange& exchange);

  Recording& recording_;
  Names names_;
  Steps all_;
  std::vector<Named> named_;
  std::set<std::string, std::less<>> handles_used_;
  std::size_t added_ = 0;
};

Node decoded_arguments(const Exchange& exchange) {
  xdr::Decoder in(exchange.arguments);
  return decode_arguments(in);
}

void Maker::find_used_handles() {
  for (const Exchange& exchange : recording_.exchanges) {
    const Node arguments = decoded_arguments(exchange);
    for (std::size_t i = 0; i < arguments.items.size(); ++i) {
      const Node* handle =
          arguments.names[i] == "PUTFH" ? arguments.items[i].find("object") : nullptr;
      if (handle) handles_used_.insert(to_text(*handle));
    }
  }
}

std::string Maker::said(const std::string& operation, const Node& arguments) {
  if (all_.rooted && operation == "PUTROOTFH") return "PUTFH $root";
  return operation_text(operation, names_.replace(operation, arguments));
}

std::string Maker::options(const Exchange& exchange, const Node& arguments) const {
  std::string text = "slot=0";
  if (exchange.auth_none) {
    text += " auth=none";
  } else {
    if (exchange.uid != ::getuid()) text += fmt::format(" uid={}", exchange.uid);
    if (exchange.gid != ::getgid()) text += fmt::format(" gid={}", exchange.gid);
  }
  const Node* minor = arguments.find("minorversion");
  if (minor && minor->text != "1") text += " minor=" + minor->text;
  const Node* cache = arguments.at("SEQUENCE.sa_cachethis");
  if (cache && cache->text == "true") text += " cache=true";
  return text;
}

bool Maker::skipped(const Node& arguments, const Node& results) {
  if (arguments.find("malformed")) {
    ++all_.unreadable;
    return true;
  }
  std::size_t operations = 0;
  for (const std::string& name : arguments.names) {
    operations += name != "tag" && name != "minorversion" && name != "SEQUENCE" ? 1 : 0;
    if (std::find(kOfSessions.begin(), kOfSessions.end(), name) != kOfSessions.end()) {
      operations = 0;
      break;
    }
  }
  all_.left_out += operations == 0 ? 1 : 0;
  const Node* status = results.find("status");
  const bool delayed = operations != 0 && status && is_delay(status->text);
  all_.delayed += delayed ? 1 : 0;
  return operations == 0 || delayed;
}

/// Handles that came with READDIR and are used later: a script gets them with LOOKUP.
void Maker::find_entries(const Node& readdir, const std::string& directory,
                         const Exchange& exchange) {
  const Node* entries = readdir.at("resok4.reply.entries");
  for (std::size_t i = 0; entries && i < entries->items.size(); ++i) {
    const Node* attributes = entries->items[i].find("attrs");
    const Node* entry = entries->items[i].find("name");
    nfs4::fattr4 values;
    TextMemory memory;
    if (!attributes || !entry || !parse(*attributes, values, memory)) continue;
    const auto decoded = nfs4::decode_attributes(values);
    if (!decoded || !decoded->has(nfs4::FATTR4_FILEHANDLE)) continue;
    const std::string handle = to_hex(decoded->filehandle.bytes());
    if (!handles_used_.contains(handle) || names_.knows_handle(handle)) continue;
    const std::string name = fmt::format("h{}", ++added_);
    names_.learn_handle(handle, name + ".GETFH.resok4.object");
    Step step{exchange.call_frame, 0, {}, {}, true};
    step.text = fmt::format("compound slot=0 {{ {} LOOKUP {{objname={}}} GETFH }}", directory,
                            to_text(*entry));
    named_.push_back({std::move(step), name});
  }
}

void Maker::learn(const Node& arguments, const Node& results, const std::string& name,
                  const Exchange& exchange) {
  std::map<std::string, std::size_t> times;
  std::string directory;
  for (std::size_t i = 0; i < results.items.size(); ++i) {
    const std::string& operation = results.names[i];
    const std::size_t nth = ++times[operation];
    const std::string place =
        nth == 1 ? name + "." + operation : fmt::format("{}.{}#{}", name, operation, nth);
    names_.learn(operation, results.items[i], place);
    // How the directory is come to, should an entry be needed.
    const Node* given = arguments.at(place.substr(name.size() + 1));
    if (operation == "PUTFH" || operation == "PUTROOTFH") directory.clear();
    if (given && (operation == "PUTFH" || operation == "PUTROOTFH" || operation == "LOOKUP")) {
      directory += said(operation, *given) + " ";
    }
    if (operation == "READDIR" && !directory.empty()) {
      directory.pop_back();
      find_entries(results.items[i], directory, exchange);
    }
  }
}

void Maker::add(Exchange& exchange) {
  const Node arguments = decoded_arguments(exchange);
  const Node results = exchange.reply_frame == 0 ? Node() : results_of(exchange.results);
  if (skipped(arguments, results)) return;
  const std::string name = fmt::format("c{}", named_.size() + 1);
  std::string operations;
  for (std::size_t i = 0; i < arguments.items.size(); ++i) {
    const std::string& operation = arguments.names[i];
    if (operation == "tag" || operation == "minorversion" || operation == "SEQUENCE") continue;
    operations += " " + said(operation, arguments.items[i]);
  }
  Step step{exchange.call_frame, exchange.reply_frame, {}, std::move(exchange.results), false};
  step.text = fmt::format("compound {} {{{} }}", options(exchange, arguments), operations);
  exchange.arguments = {};
  named_.push_back({std::move(step), name});
  learn(arguments, results, name, exchange);
}

Steps Maker::make() {
  all_.prologue = fmt::format("connect\nsession{}\n", recording_.back_channel ? " back=on" : "");
  find_used_handles();
  for (Exchange& exchange : recording_.exchanges) add(exchange);
  for (Named& each : named_) {
    if (names_.used().contains(each.name)) each.step.text += " -> " + each.name;
    all_.steps.push_back(std::move(each.step));
  }
  return std::move(all_);
}

}  // namespace

Steps make_steps(Recording& recording, bool rooted) { return Maker(recording, rooted).make(); }

Node results_of(std::span<const std::byte> results) {
  xdr::Decoder in(results);
  return results_of(decode_results(in));
}

Node results_of(const Node& reply) {
  constexpr std::array<std::string_view, 10> kOfTransport = {
      "xid",         "vers",        "credits", "proc", "write",
      "reply_chunk", "invalidated", "bytes",   "tag",  "SEQUENCE"};
  Node kept;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const std::string& name = reply.names[i];
    const bool fine = name == "rpc" && reply.items[i].text == "success";
    const bool other =
        std::find(kOfTransport.begin(), kOfTransport.end(), name) != kOfTransport.end();
    if (!fine && !other) kept.add(name, reply.items[i]);
  }
  return kept;
}

std::string status_of(const Node& result) {
  if (result.kind != Node::Kind::record || result.items.empty()) return {};
  const bool is_status = result.names.front().ends_with("status");
  return is_status ? result.items.front().text : std::string();
}

}  // namespace nfsrdma::lab::replay
