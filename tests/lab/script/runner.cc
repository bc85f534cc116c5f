#include "tests/lab/script/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "tests/lab/script/server.h"
#include "tests/lab/subcommand.h"

namespace nfsrdma::lab::script {
namespace {

/// "lab" and a byte: easily found in a capture.
constexpr std::uint32_t kFirstXid = 0x6c616201;
/// What all blocks of one script may run in sum: one that repeats repeats shall end.
constexpr std::uint64_t kMostStatements = 1'000'000;

Result<bool> to_switch(const Node& node) {
  for (const char* yes : {"on", "yes", "true", "1"}) {
    if (node.text == yes) return true;
  }
  for (const char* no : {"off", "no", "false", "0"}) {
    if (node.text == no) return false;
  }
  return wrong(node.line, to_text(node) + " is neither on nor off");
}

/// {R=1 send=4096 recv=4096} or 0xHEX.
Result<Bytes> to_private_data(const Node& node, const Bindings& bindings) {
  if (node.kind == Node::Kind::word && node.text == "none") return Bytes();
  if (node.kind == Node::Kind::word) {
    if (auto bytes = to_bytes(node.text)) return *bytes;
  }
  if (node.kind != Node::Kind::record) {
    return wrong(node.line, "private-data is none, 0xHEX or {R=1 send=N recv=N}");
  }
  rdma::PrivateData data;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    auto number = number_of(node.items[i], bindings, rdma::kMaxThreshold);
    if (!number) return fail_from(number);
    if (node.names[i] == "R") {
      data.remote_invalidation = *number != 0;
    } else if (node.names[i] == "send") {
      data.send_size = *number;
    } else if (node.names[i] == "recv") {
      data.receive_size = *number;
    } else {
      return wrong(node.line, node.names[i] + " is no field of private-data");
    }
  }
  const auto bytes = rdma::encode_private_data(data);
  return Bytes(bytes.begin(), bytes.end());
}

tl::unexpected<Error> not_over_verbs(int line, std::string_view why) {
  return fail(
      Error::local(EOPNOTSUPP, kNotOverVerbs, fmt::format("{}: {}: {}", line, kNotOverVerbs, why)));
}

tl::unexpected<Error> unreachable(int line, const Error& error) {
  return fail(
      Error::local(ECONNREFUSED, kConnectStep,
                   fmt::format("{}: the server is not reached: {}", line, error.message())));
}

}  // namespace

int exit_status(const Error& error) {
  const std::string_view step = error.step;
  if (step == kExpectStep) return kExitFound;
  if (step == kNotOverVerbs) return kExitInapplicable;
  return step == kScriptStep ? kExitUsage : kExitFailed;
}

Runner::Runner(Network& network, RunnerOptions options)
    : network_(network), options_(std::move(options)), next_xid_(kFirstXid) {}

Result<void> Runner::run(const Script& script) { return run_all(script); }

Result<void> Runner::run_all(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) TRY(execute(statement));
  return {};
}

Result<void> Runner::execute(const Statement& statement) {
  if (++statements_ > kMostStatements) {
    return wrong(statement.line, "the script has run a million statements and is ended");
  }
  return std::visit([&](const auto& what) { return execute(statement.line, what); },
                    statement.what);
}

Result<PeerOptions> Runner::peer_options(int line, const Connect& what) {
  PeerOptions options;
  const std::string carrier = what.carrier.empty() ? options_.carrier : what.carrier;
  options.carrier = carrier_of(carrier);
  if (carrier == "socket" && options_.carrier == "verbs") {
    return not_over_verbs(line, "MPA and the bytes of its stream are the device's, if it has them");
  }
  const bool rdma_port = options.carrier != Carrier::tcp;
  const std::string server = options_.server.empty() ? what.server : options_.server;
  if (server.empty()) return wrong(line, "no server is named, here or on the command line");
  auto address = find_server(server, rdma_port ? kRdmaPort : kTcpPort);
  if (!address) return unreachable(line, address.error());
  options.address = *address;
  const auto usual = rdma::encode_private_data({false, 4096, 4096});
  options.private_data.assign(usual.begin(), usual.end());
  for (std::size_t i = 0; i < what.options.items.size(); ++i) {
    const std::string& name = what.options.names[i];
    const Node& value = what.options.items[i];
    if (name == "private-data") {
      auto data = to_private_data(value, bindings_);
      if (!data) return fail_from(data);
      options.private_data = std::move(*data);
    } else if (name == "crc") {
      auto on = to_switch(value);
      if (!on) return fail_from(on);
      options.crc = *on;
    } else if (name == "receives") {
      constexpr std::uint64_t kMostReceives = 4096;
      auto number = number_of(value, bindings_, kMostReceives);
      if (!number) return fail_from(number);
      options.receives = *number;
    } else if (name == "hold") {
      auto on = to_switch(value);
      if (!on) return fail_from(on);
      options.hold_receives = *on;
    } else if (name != "answer" && name != "may-fail") {
      return wrong(line, name + " is no option of connect");
    }
  }
  return options;
}

Result<void> Runner::open(int line, Connection& connection) {
  const std::uint64_t before = network_.packets();
  auto opened = connection.open(options_.patience);
  proof_ = {};
  if (network_.packets() > before) {
    proof_.sent_frame = before + 1;
    proof_.came_frame = network_.packets();
  }
  if (!opened && opened.error().step == std::string_view(kNotOverVerbs)) {
    return not_over_verbs(line, opened.error().detail);
  }
  if (!opened) return unreachable(line, opened.error());
  bindings_["private-data"] = describe_private_data(connection.peer().private_data());
  if (options_.verbose) fmt::print("{}: connected: {}\n", line, connection.peer().description());
  return {};
}

Result<void> Runner::execute(int line, const Connect& what) {
  auto options = peer_options(line, what);
  if (!options) return fail_from(options);
  auto& place = connections_[what.name];
  place = std::make_unique<Connection>(network_, std::move(*options));
  place->on_reply = [this](const Reply& reply) { note_reply(reply); };
  if (const Node* answer = what.options.find("answer")) {
    auto on = to_switch(*answer);
    if (!on) return fail_from(on);
    place->answer_callbacks(*on);
  }
  now_ = place.get();
  auto opened = open(line, *now_);
  if (!opened && what.options.find("may-fail") && exit_status(opened.error()) == kExitFailed) {
    return {};
  }
  return opened;
}

Result<void> Runner::need_connection(int line) const {
  if (now_) return {};
  return wrong(line, "there is no connection: connect comes first");
}

Result<void> Runner::execute(int line, const Reconnect&) {
  TRY(need_connection(line));
  return open(line, *now_);
}

Result<void> Runner::execute(int line, const Disconnect& what) {
  TRY(need_connection(line));
  Peer& peer = now_->peer();
  const char* counter =
      what.phase == "after-read" ? "read_requests_received" : "write_bytes_placed";
  if (what.phase == "after-read" || what.phase == "after-write") {
    if (peer.carrier() == Carrier::verbs) {
      return not_over_verbs(line, "no program sees what the peer reads and writes by RDMA");
    }
    const bool reached = now_->until(options_.patience, [&] {
      return peer.counter(counter) >= what.count || peer.down().has_value();
    });
    if (!reached) {
      return fail(Error::local(EPROTO, kExpectStep,
                               fmt::format("{}: disconnect {} {}: it has come to {}", line,
                                           what.phase, what.count, peer.counter(counter))));
    }
  } else if (what.phase == "after-send") {
    // The message leaves at the end of the present turn.
    (void)network_.reactor().run_once(Duration::zero());
  }
  peer.close(!what.reset);
  now_->until(options_.patience, [&] { return peer.down().has_value(); });
  return {};
}

Result<void> Runner::execute(int line, const Use& what) {
  const auto found = connections_.find(what.name);
  if (found == connections_.end()) return wrong(line, "there is no connection " + what.name);
  now_ = found->second.get();
  return {};
}

Result<void> Runner::execute(int line, const Let& what) {
  if (!what.operation) {
    auto value = resolve(what.value, bindings_);
    if (!value) return fail_from(value);
    bindings_[what.name] = std::move(*value);
    return {};
  }
  TRY(need_connection(line));
  auto results = call(line, {*what.operation});
  if (!results) return fail_from(results);
  events_.push_back({line, "reply", *results});
  bindings_[what.name] = *results->at(what.operation->name);
  return {};
}

Result<void> Runner::execute(int line, const Repeat& what) {
  auto times = number_of(what.times, bindings_, kMostStatements);
  if (!times) return fail_from(times);
  struct Step {
    std::uint64_t round;
    const Statement* statement;
  };
  std::vector<Step> steps;
  if (*times * what.body.size() > kMostStatements) {
    return wrong(line, "it repeats more than a million statements");
  }
  for (std::uint64_t round = 1; round <= *times; ++round) {
    for (const Statement& statement : what.body) steps.push_back({round, &statement});
  }
  if (what.seed) {
    auto seed = number_of(*what.seed, bindings_, UINT64_MAX);
    if (!seed) return fail_from(seed);
    std::mt19937_64 engine(*seed);
    // Not std::shuffle: the order of a seed shall be the same with every library.
    for (std::size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[engine() % i]);
  }
  for (const Step& step : steps) {
    bindings_["i"] = Node::number(step.round);
    TRY(execute(*step.statement));
  }
  return {};
}

Result<void> Runner::execute(int line, const Pause& what) {
  TRY(need_connection(line));
  now_->until(what.time, [] { return false; });
  return {};
}

Result<void> Runner::execute(int, const Print& what) {
  auto value = resolve(what.value, bindings_);
  if (!value) return fail_from(value);
  fmt::print("{}\n", value->kind == Node::Kind::text ? value->text : to_text(*value));
  return {};
}

}  // namespace nfsrdma::lab::script
