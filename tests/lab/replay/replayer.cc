#include "tests/lab/replay/replayer.h"

#include <fmt/format.h>

#include <chrono>

#include "tests/lab/subcommand.h"

namespace nfsrdma::lab::replay {
namespace {

using script::Difference;

/// How long a call is kept back that the server wants to see later.
constexpr std::chrono::milliseconds kDelay{100};

/// An error's text without the line, which is always 1 here.
std::string without_line(const Error& error) {
  const std::string& text = error.detail;
  return text.starts_with("1: ") ? text.substr(3) : text;
}

}  // namespace

Replayer::Replayer(Network& network, script::RunnerOptions options, const Steps& steps)
    : options_(std::move(options)), runner_(network, options_), steps_(steps) {}

Result<void> Replayer::execute(const std::string& text) {
  auto script = script::read_script(text);
  if (!script) return fail_from(script);
  auto done = runner_.run(*script);
  runner_.forget();
  return done;
}

Result<void> Replayer::begin() { return execute(steps_.prologue); }

void Replayer::end() {
  (void)execute("compound { DESTROY_SESSION $session.csr_sessionid }");
  (void)execute("compound { DESTROY_CLIENTID $client.eir_clientid }");
}

bool Replayer::is_delayed() {
  const auto reply = runner_.bindings().find("reply");
  if (reply == runner_.bindings().end()) return false;
  const Node* status = reply->second.find("status");
  return status && (status->text == "NFS4ERR_DELAY" || status->text == "NFS4ERR_GRACE");
}

std::optional<Difference> Replayer::issue(const Step& step, bool& lost) {
  const auto patience = options_.patience / kDelay;
  for (std::int64_t left = patience; left >= 0; --left) {
    auto done = execute(step.text);
    if (!done) {
      if (script::exit_status(done.error()) == kExitUsage) {
        ++unsaid_;
        return std::nullopt;
      }
      lost = true;
      return Difference{0, "reply", "an answer", without_line(done.error())};
    }
    if (!is_delayed()) break;
    (void)execute(fmt::format("pause {}ms", kDelay.count()));
  }
  if (step.reply_frame == 0) return std::nullopt;
  ++answers_;
  const auto reply = runner_.bindings().find("reply");
  Node captured = results_of(step.results);
  for (std::string& name : captured.names) {
    if (steps_.rooted && name == "PUTROOTFH") name = "PUTFH";
  }
  return find_difference(captured, results_of(reply->second));
}

void Replayer::run(const std::function<bool(const ReplayDifference&)>& tell) {
  for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
    bool lost = false;
    auto found = issue(steps_.steps[i], lost);
    if (!found) continue;
    if (!tell({i, std::move(*found)}) || lost) return;
  }
}

}  // namespace nfsrdma::lab::replay
