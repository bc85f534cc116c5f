#include "tests/lab/probe/probe.h"

#include <fmt/format.h>

#include <array>

namespace nfsrdma::lab::probe {
namespace {

constexpr const char* kMakeFile = R"(
let dir = $root
compound slot=0 { PUTFH $dir OPEN {share_access=OPEN4_SHARE_ACCESS_BOTH
  owner={clientid=$client.eir_clientid owner="lab"} openhow={opentype=OPEN4_CREATE how={mode=UNCHECKED4}}
  claim={claim=CLAIM_NULL file="lab-probe"}} GETFH } -> o
expect reply.status = NFS4_OK
let file = $o.GETFH.resok4.object
compound slot=0 { PUTFH $file WRITE {stateid=$o.OPEN.resok4.stateid stable=FILE_SYNC4
  data={length=65536 fill=0x61}} }
expect reply.status = NFS4_OK
)";

/// What an expectation that failed says of the server.
std::string refusal(script::Runner& runner, const Error& error) {
  const std::string_view step = error.step;
  if (step == script::kConnectStep) return "no connection";
  script::Connection* connection = runner.connection();
  const bool silent = error.detail.find("nothing came") != std::string::npos ||
                      error.detail.find("time is over") != std::string::npos ||
                      error.detail.find("NULL has no answer") != std::string::npos;
  if (silent) return "no answer";
  if (connection && connection->peer().down()) return "no: disconnect";
  return "no";
}

}  // namespace

Probe::Probe(Network& network, Server server, Duration patience)
    : network_(network), server_(std::move(server)), patience_(patience) {}

script::RunnerOptions Probe::options() const {
  script::RunnerOptions options;
  options.server = server_.address;
  options.carrier = server_.carrier;
  options.path = server_.path;
  options.patience = patience_;
  return options;
}

Result<void> Probe::run(script::Runner& runner, const std::string& text) {
  auto script = script::read_script(text);
  if (!script) return fail_from(script);
  return runner.run(*script);
}

Result<void> Probe::set_up() {
  script::Runner runner(network_, options());
  auto done = run(runner, std::string(LAB_SESSION) + kMakeFile);
  const auto take = [&](const char* name, Node& into) {
    const auto found = runner.bindings().find(name);
    if (found != runner.bindings().end()) into = found->second;
  };
  take("dir", directory_);
  take("file", file_);
  return done;
}

Answer Probe::ask(const Row& row) {
  const bool rdma = server_.carrier != "tcp";
  if ((row.needs == Needs::rdma && !rdma) || (row.needs == Needs::tcp && rdma))
    return {"-", "", {}};
  script::Runner runner(network_, options());
  runner.bind("dir", directory_);
  runner.bind("file", file_);
  const auto done = run(runner, row.script);
  Answer answer;
  answer.proof = runner.proof();
  if (!done && done.error().step == std::string_view(kNotOverVerbs)) {
    return {"-", done.error().detail, {}};
  }
  if (!done) {
    answer.text = refusal(runner, done.error());
    answer.detail = done.error().detail;
    return answer;
  }
  const auto found = runner.bindings().find("answer");
  if (row.read) {
    answer.text = row.read(runner);
  } else {
    answer.text = found == runner.bindings().end() ? "yes" : to_text(found->second);
  }
  return answer;
}

void Probe::clean_up() {
  script::Runner runner(network_, options());
  runner.bind("dir", directory_);
  // A server that is gone by now was told of by the rows.
  (void)run(runner, LAB_SESSION
            "compound slot=0 { PUTFH $dir REMOVE \"lab-probe\" }\n"
            "compound slot=0 { PUTFH $dir REMOVE \"lab-probe-link\" }\n");
}

std::span<const std::span<const Row>> all_rows() {
  static const std::array<std::span<const Row>, 5> groups = {connection_rows(),
                                                             credit_and_header_rows(), chunk_rows(),
                                                             session_rows(), file_system_rows()};
  return groups;
}

}  // namespace nfsrdma::lab::probe
