// Statements but for those that send: reader_send.cc has them.
#include "tests/lab/script/reader.h"

#include <fmt/format.h>

#include <array>

namespace nfsrdma::lab::script {
namespace {

constexpr std::size_t kMaxBlocks = 16;

Result<std::string> name_behind(Tokens& tokens, const char* what) {
  const Token token = tokens.take();
  if (token.kind == Token::Kind::word) return token.text;
  return wrong(token.line, fmt::format("{} stands before {}", what, name_of(token)));
}

Result<Statement> read_connect(Tokens& tokens, int line) {
  Connect connect;
  for (const char* carrier : {"iwarp", "verbs", "tcp", "socket"}) {
    if (tokens.take_word(carrier)) connect.carrier = carrier;
  }
  const Token& next = tokens.next();
  const bool server =
      next.kind == Token::Kind::text ||
      (next.kind == Token::Kind::word && !tokens.peek(1).is("=") && next.text != "as");
  if (server) connect.server = tokens.take().text;
  auto options = read_options(tokens);
  if (!options) return fail_from(options);
  connect.options = std::move(*options);
  if (tokens.take_word("as")) {
    auto name = name_behind(tokens, "no name");
    if (!name) return fail_from(name);
    connect.name = std::move(*name);
  }
  return Statement{line, std::move(connect)};
}

Result<Statement> read_disconnect(Tokens& tokens, int line) {
  Disconnect disconnect;
  disconnect.reset = tokens.take_word("reset");
  for (const char* phase : {"after-send", "after-read", "after-write"}) {
    if (tokens.take_word(phase)) disconnect.phase = phase;
  }
  if (tokens.next().kind == Token::Kind::word) {
    const Token count = tokens.take();
    const auto number = to_number(count.text);
    if (!number || disconnect.phase.empty()) {
      return wrong(count.line, "behind disconnect: reset, after-send, after-read N, after-write N");
    }
    disconnect.count = *number;
  }
  return Statement{line, std::move(disconnect)};
}

Result<Statement> read_let(Tokens& tokens, int line) {
  Let let;
  auto name = name_behind(tokens, "no name");
  if (!name) return fail_from(name);
  let.name = std::move(*name);
  TRY(tokens.expect_mark("="));
  if (tokens.next().kind == Token::Kind::word && is_operation(tokens.next().text)) {
    auto operation = read_operation(tokens);
    if (!operation) return fail_from(operation);
    let.operation = std::move(*operation);
    return Statement{line, std::move(let)};
  }
  auto value = read_node(tokens);
  if (!value) return fail_from(value);
  let.value = std::move(*value);
  return Statement{line, std::move(let)};
}

Result<std::optional<Duration>> read_within(Tokens& tokens) {
  if (!tokens.take_word("within")) return std::optional<Duration>();
  const Token time = tokens.take();
  const auto duration = to_duration(time.text);
  if (!duration) return wrong(time.line, name_of(time) + " is no time, such as 100ms or 2s");
  return std::optional<Duration>(*duration);
}

Result<void> read_comparison(Tokens& tokens, Expect& expect) {
  for (const char* mark : {"=", "==", "!=", "<", "<=", ">", ">="}) {
    if (!tokens.take_mark(mark)) continue;
    expect.comparison = mark;
    auto value = read_node(tokens);
    if (!value) return fail_from(value);
    expect.value = std::move(*value);
    expect.text += fmt::format(" {} {}", mark, to_text(expect.value));
    return {};
  }
  return {};
}

Result<Statement> read_expect(Tokens& tokens, int line) {
  Expect expect;
  expect.negated = tokens.take_word("no");
  auto subject = name_behind(tokens, "nothing to expect");
  if (!subject) return fail_from(subject);
  expect.subject = std::move(*subject);
  const std::string_view root =
      std::string_view(expect.subject).substr(0, expect.subject.find('.'));
  constexpr std::array<std::string_view, 8> kRoots = {
      "disconnect", "alive", "server", "reply", "outcome", "callback", "private-data", "bytes"};
  const bool known = expect.subject.starts_with('$') ||
                     std::find(kRoots.begin(), kRoots.end(), root) != kRoots.end();
  if (!known) return wrong(line, "nothing is known of " + expect.subject);
  expect.text = (expect.negated ? "no " : "") + expect.subject;
  if (tokens.next().is_word("xid") && tokens.peek(1).is("=")) {
    tokens.take();
    tokens.take();
    auto xid = read_node(tokens);
    if (!xid) return fail_from(xid);
    expect.xid = std::move(*xid);
    expect.text += " xid=" + to_text(*expect.xid);
  }
  TRY(read_comparison(tokens, expect));
  auto within = read_within(tokens);
  if (!within) return fail_from(within);
  expect.within = *within;
  return Statement{line, std::move(expect)};
}

Result<Statement> read_repeat(Tokens& tokens, int line, std::size_t depth) {
  Repeat repeat;
  auto times = read_node(tokens);
  if (!times) return fail_from(times);
  repeat.times = std::move(*times);
  if (depth == kMaxBlocks) return wrong(line, "repeat is nested too deeply");
  TRY(tokens.expect_mark("{"));
  auto body = read_statements(tokens, depth + 1);
  if (!body) return fail_from(body);
  repeat.body = std::move(*body);
  TRY(tokens.expect_mark("}"));
  if (tokens.take_word("shuffle")) {
    auto options = read_options(tokens);
    if (!options) return fail_from(options);
    const Node* seed = options->find("seed");
    if (!seed) return wrong(line, "shuffle needs seed=N");
    repeat.seed = *seed;
  }
  return Statement{line, std::move(repeat)};
}

Result<Statement> read_pause(Tokens& tokens, int line) {
  const Token time = tokens.take();
  const auto duration = to_duration(time.text);
  if (!duration) return wrong(line, name_of(time) + " is no time, such as 100ms or 2s");
  return Statement{line, Pause{*duration}};
}

Result<Statement> read_statement(Tokens& tokens, std::size_t depth) {
  const Token word = tokens.take();
  const int line = word.line;
  if (word.is_word("connect")) return read_connect(tokens, line);
  if (word.is_word("reconnect")) return Statement{line, Reconnect{}};
  if (word.is_word("disconnect")) return read_disconnect(tokens, line);
  if (word.is_word("let")) return read_let(tokens, line);
  if (word.is_word("expect")) return read_expect(tokens, line);
  if (word.is_word("repeat")) return read_repeat(tokens, line, depth);
  if (word.is_word("pause")) return read_pause(tokens, line);
  if (word.is_word("send") || word.is_word("compound") || word.is_word("resend")) {
    return read_sending(tokens, word);
  }
  if (word.is_word("session")) {
    auto options = read_options(tokens);
    if (!options) return fail_from(options);
    OpenSession session{std::move(*options), ""};
    if (tokens.take_word("as")) {
      auto name = name_behind(tokens, "no name");
      if (!name) return fail_from(name);
      session.name = std::move(*name);
    }
    return Statement{line, std::move(session)};
  }
  if (word.is_word("use")) {
    auto name = name_behind(tokens, "no name");
    if (!name) return fail_from(name);
    return Statement{line, Use{std::move(*name)}};
  }
  if (word.is_word("print")) {
    auto value = read_node(tokens);
    if (!value) return fail_from(value);
    return Statement{line, Print{std::move(*value)}};
  }
  return wrong(line, name_of(word) + " begins no statement");
}

}  // namespace

Result<Node> read_options(Tokens& tokens) {
  Node options;
  options.line = tokens.line();
  while (tokens.next().kind == Token::Kind::word && tokens.peek(1).is("=")) {
    const std::string name = tokens.take().text;
    tokens.take();
    auto value = read_node(tokens);
    if (!value) return fail_from(value);
    options.add(name, std::move(*value));
  }
  return options;
}

Result<std::vector<Statement>> read_statements(Tokens& tokens, std::size_t depth) {
  std::vector<Statement> all;
  for (;;) {
    tokens.skip_lines();
    if (tokens.next().kind == Token::Kind::ended || tokens.next().is("}")) return all;
    auto statement = read_statement(tokens, depth);
    if (!statement) return fail_from(statement);
    all.push_back(std::move(*statement));
    const Token& next = tokens.next();
    const bool ended = next.kind == Token::Kind::line || next.kind == Token::Kind::ended ||
                       next.is(";") || next.is("}");
    if (!ended) return wrong(next.line, name_of(next) + " is not understood here");
  }
}

std::optional<Duration> to_duration(std::string_view word) {
  constexpr std::uint64_t kMostMilliseconds = 3'600'000;
  std::uint64_t unit = 0;
  if (word.ends_with("ms")) {
    unit = 1;
    word.remove_suffix(2);
  } else if (word.ends_with('s')) {
    unit = 1000;
    word.remove_suffix(1);
  }
  const auto number = to_number(word);
  if (unit == 0 || !number || *number > kMostMilliseconds / unit) return std::nullopt;
  return std::chrono::milliseconds(*number * unit);
}

Result<Script> read_script(std::string_view text) {
  auto all = read_tokens(text);
  if (!all) return fail_from(all);
  Tokens tokens(*all);
  auto script = read_statements(tokens, 0);
  if (script && tokens.next().kind != Token::Kind::ended) {
    return wrong(tokens.line(), "a '}' without its '{'");
  }
  return script;
}

}  // namespace nfsrdma::lab::script
