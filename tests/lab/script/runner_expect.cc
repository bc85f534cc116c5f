// What a runner expects.
#include <fmt/format.h>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::script {
namespace {

/// How much of what came is shown.
constexpr std::size_t kShown = 1000;
/// How long silence is, where no `within` says it.
constexpr Duration kSilence = std::chrono::milliseconds(300);

std::string shortened(const std::string& text) {
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

std::string_view path_of(const std::string& subject) {
  const std::size_t dot = subject.find('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(subject).substr(dot + 1);
}

/// What became of a call that was answered.
const char* outcome_of(const Node& reply) {
  if (reply.find("error")) return "error";
  const Node* rpc = reply.find("rpc");
  return rpc && rpc->text == "success" ? "reply" : "rpc-error";
}

bool holds(std::uint64_t a, std::string_view comparison, std::uint64_t b) {
  if (comparison == "<") return a < b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">") return a > b;
  if (comparison == ">=") return a >= b;
  return comparison == "!=" ? a != b : a == b;
}

std::string root_of(const std::string& subject) { return subject.substr(0, subject.find('.')); }

}  // namespace

bool compare(const Node& left, std::string_view comparison, const Node& right) {
  const bool words = left.kind == Node::Kind::word && right.kind == Node::Kind::word;
  if (words) {
    const auto a = to_constant(left.text), b = to_constant(right.text);
    if (a && b) return holds(*a, comparison, *b);
  }
  const auto bytes = [](const Node& node) -> std::optional<Bytes> {
    if (node.kind == Node::Kind::word) return to_bytes(node.text);
    if (node.kind != Node::Kind::text) return std::nullopt;
    const auto data = std::as_bytes(std::span(node.text));
    return Bytes(data.begin(), data.end());
  };
  // "hello" is what 0x68656c6c6f says.
  const auto c = bytes(left), d = bytes(right);
  const bool same = c && d ? *c == *d : to_text(left) == to_text(right);
  if (comparison == "!=") return !same;
  return same && (comparison == "=" || comparison == "==");
}

Result<void> Runner::judge(int line, const Expect& what, bool holds, const std::string& came) {
  ++expectations_;
  if (holds == !what.negated) return {};
  ++failed_;
  const std::string text = fmt::format("expectation {} does not hold: expect {}; {}", expectations_,
                                       what.text, shortened(came));
  if (options_.keep_going) {
    // What came is the reply's event: told once more, its session ids would differ each time.
    events_.push_back({line, "expect " + what.text, {}});
    return {};
  }
  return fail(Error::local(EPROTO, kExpectStep, fmt::format("{}: {}", line, text)));
}

Result<void> Runner::execute(int line, const Expect& what) {
  TRY(need_connection(line));
  if (what.subject == "disconnect") return expect_disconnect(line, what);
  if (what.subject == "alive") return expect_alive(line, what, *now_);
  if (what.subject == "server") return expect_server(line, what);
  if (what.subject == "reply" && what.negated) {
    std::uint64_t xid = last_xid_;
    if (what.xid) {
      auto number = number_of(*what.xid, bindings_, UINT32_MAX);
      if (!number) return fail_from(number);
      xid = *number;
    }
    return expect_silence(line, what, static_cast<std::uint32_t>(xid));
  }
  return expect_value(line, what);
}

Result<void> Runner::expect_disconnect(int line, const Expect& what) {
  const auto& down = now_->peer().down();
  const Duration otherwise = what.negated ? Duration::zero() : options_.patience;
  now_->until(what.within.value_or(otherwise), [&] { return down.has_value(); });
  if (down) {
    Node reason;
    reason.add("reason", Node::quoted(down->message()));
    bindings_["disconnect"] = reason;
  }
  return judge(line, what, down.has_value(),
               down ? "the connection has ended: " + down->message() : "the connection lives");
}

Result<void> Runner::expect_alive(int line, const Expect& what, Connection& connection) {
  Send null;
  null.null_procedure = true;
  auto recipe = make_recipe(line, null);
  if (!recipe) return fail_from(recipe);
  const std::uint32_t before = last_xid_;
  auto call = assemble(*recipe, connection.peer());
  // The NULL that says whether a message was survived is not that message.
  if (call && proof_.sent.empty()) note_sent(call->message);
  if (call) (void)connection.send(std::move(*call));
  const auto& down = connection.peer().down();
  connection.until(what.within.value_or(options_.patience),
                   [&] { return connection.reply(recipe->xid) || down; });
  last_xid_ = before;
  const Reply* reply = connection.reply(recipe->xid);
  const bool answered = reply && reply->content.find("rpc");
  return judge(line, what, answered,
               answered ? "it answers"
               : down   ? "the connection has ended: " + down->message()
                        : "NULL has no answer");
}

Result<void> Runner::expect_server(int line, const Expect& what) {
  PeerOptions options = now_->options();
  if (options.carrier == Carrier::socket) {
    options.carrier = Carrier::iwarp;
    const auto usual = rdma::encode_private_data({false, 4096, 4096});
    options.private_data.assign(usual.begin(), usual.end());
  }
  Connection other(network_, options);
  auto opened = other.open(what.within.value_or(options_.patience));
  if (!opened) return judge(line, what, false, opened.error().message());
  return expect_alive(line, what, other);
}

Result<void> Runner::expect_silence(int line, const Expect& what, std::uint32_t xid) {
  const bool came =
      now_->until(what.within.value_or(kSilence), [&] { return now_->reply(xid) != nullptr; });
  return judge(line, what, came,
               came ? "it is " + to_text(now_->reply(xid)->content) : "none came");
}

/// What the subject may mean now: several for callbacks, none when nothing has come.
Result<std::vector<Node>> Runner::values_of(const Expect& what, std::uint32_t xid) {
  const std::string root = root_of(what.subject);
  std::vector<Node> found;
  const Reply* reply = now_->reply(xid);
  if (root == "reply") {
    if (reply) found.push_back(reply->content);
  } else if (root == "outcome") {
    if (reply) found.push_back(Node::word(outcome_of(reply->content)));
    if (!reply && now_->peer().down()) found.push_back(Node::word("disconnect"));
  } else if (root == "callback") {
    found = now_->callbacks();
  } else if (root == "bytes") {
    Node stream;
    stream.add("length", Node::number(now_->stream().size()));
    stream.add("hex", Node::word(to_hex(now_->stream())));
    found.push_back(std::move(stream));
  } else if (root == "private-data") {
    found.push_back(bindings_["private-data"]);
  } else {
    auto value = resolve(Node::word(what.subject), bindings_);
    if (!value) return fail_from(value);
    found.push_back(std::move(*value));
  }
  return found;
}

Result<void> Runner::expect_value(int line, const Expect& what) {
  std::uint64_t xid = last_xid_;
  if (what.xid) {
    auto number = number_of(*what.xid, bindings_, UINT32_MAX);
    if (!number) return fail_from(number);
    xid = *number;
  }
  auto right = resolve(what.value, bindings_);
  if (!right) return fail_from(right);
  const std::string root = root_of(what.subject);
  const std::string_view path = what.subject.starts_with('$') ? "" : path_of(what.subject);
  const auto holds_for = [&](const Node& value) {
    const Node* found = value.at(path);
    if (!found) return false;
    return what.comparison.empty() || compare(*found, what.comparison, *right);
  };
  std::vector<Node> values;
  std::optional<Error> failed;
  const auto settled = [&] {
    auto now = values_of(what, static_cast<std::uint32_t>(xid));
    if (!now) {
      failed = std::move(now.error());
      return true;
    }
    values = std::move(*now);
    const bool holds = std::any_of(values.begin(), values.end(), holds_for);
    // A reply that has come does not change; callbacks and bytes may follow.
    const bool final = !values.empty() && root != "callback" && root != "bytes";
    return holds || final || now_->peer().down().has_value();
  };
  now_->until(what.within.value_or(options_.patience), settled);
  if (failed) return fail(*failed);
  if (root == "bytes") {
    proof_.came = now_->stream();
    proof_.came_frame = now_->stream_frame();
  }
  if (root == "outcome" && values.empty()) values.push_back(Node::word("silence"));
  if (root == "outcome") bindings_["outcome"] = values.front();
  if (root == "reply" && !values.empty()) {
    const bool new_reply = bindings_.find("reply") == bindings_.end() ||
                           to_text(bindings_["reply"]) != to_text(values.front());
    if (new_reply) events_.push_back({line, "reply", values.front()});
    bindings_["reply"] = values.front();
  }
  std::string came = "nothing came";
  if (const auto& down = now_->peer().down(); down && values.empty()) {
    came = "the connection has ended: " + down->message();
  }
  if (!values.empty()) {
    const Node* last = values.back().at(path);
    came = last ? fmt::format("it is {}, in {}", shortened(to_text(*last)), to_text(values.back()))
                : "there is none in " + to_text(values.back());
  }
  // What is expected not to be needs something that it could be in.
  if (what.negated && values.empty() && root != "callback") {
    Expect missing = what;
    missing.negated = false;
    return judge(line, missing, false, came);
  }
  return judge(line, what, std::any_of(values.begin(), values.end(), holds_for), came);
}

}  // namespace nfsrdma::lab::script
