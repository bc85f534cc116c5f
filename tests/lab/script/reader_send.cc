#include <fmt/format.h>

#include "tests/lab/script/reader.h"

namespace nfsrdma::lab::script {
namespace {

Result<std::optional<Node>> read_named(Tokens& tokens, std::string_view name) {
  if (!tokens.next().is_word(name) || !tokens.peek(1).is("=")) return std::optional<Node>();
  tokens.take();
  tokens.take();
  auto value = read_node(tokens);
  if (!value) return fail_from(value);
  return std::optional<Node>(std::move(*value));
}

/// "seg ..." as often as it stands there.
Result<ChunkText> read_segments(Tokens& tokens) {
  ChunkText chunk;
  for (tokens.skip_lines(); tokens.take_word("seg"); tokens.skip_lines()) {
    SegmentText segment;
    auto size = read_node(tokens);
    if (!size) return fail_from(size);
    segment.size = std::move(*size);
    auto claims = read_named(tokens, "claims");
    if (!claims) return fail_from(claims);
    segment.claims = std::move(*claims);
    auto times = read_named(tokens, "times");
    if (!times) return fail_from(times);
    segment.times = std::move(*times);
    chunk.push_back(std::move(segment));
  }
  return chunk;
}

/// "[seg ... seg ...]"
Result<ChunkText> read_chunk(Tokens& tokens) {
  TRY(tokens.expect_mark("["));
  auto chunk = read_segments(tokens);
  if (!chunk) return chunk;
  TRY(tokens.expect_mark("]"));
  return chunk;
}

/// "[[seg ...] [seg ...]]"
Result<std::vector<ChunkText>> read_write_list(Tokens& tokens) {
  std::vector<ChunkText> list;
  TRY(tokens.expect_mark("["));
  for (tokens.skip_lines(); !tokens.take_mark("]"); tokens.skip_lines()) {
    auto chunk = read_chunk(tokens);
    if (!chunk) return fail_from(chunk);
    list.push_back(std::move(*chunk));
    tokens.take_mark(",");
  }
  return list;
}

/// "[pos=0 seg 1024 seg 400, pos=1024 seg 1024]", "[payload]", "[payload seg 4096 seg 904]"
Result<std::vector<ReadChunkText>> read_read_list(Tokens& tokens) {
  std::vector<ReadChunkText> list;
  TRY(tokens.expect_mark("["));
  for (tokens.skip_lines(); !tokens.take_mark("]"); tokens.skip_lines()) {
    ReadChunkText chunk;
    chunk.padded = tokens.take_word("payload-padded");
    if (chunk.padded || tokens.take_word("payload")) {
      chunk.payload = true;
    } else {
      auto position = read_named(tokens, "pos");
      if (!position) return fail_from(position);
      if (!*position) {
        return wrong(tokens.line(), "a Read chunk begins with pos=N, or is payload");
      }
      chunk.position = std::move(**position);
    }
    auto segments = read_segments(tokens);
    if (!segments) return fail_from(segments);
    chunk.segments = std::move(*segments);
    list.push_back(std::move(chunk));
    tokens.take_mark(",");
  }
  return list;
}

/// One of read=, write= and reply=; false when something else stands there.
Result<bool> read_list(Tokens& tokens, Send& send) {
  if (!tokens.peek(1).is("=")) return false;
  const std::string name = tokens.next().text;
  if (name != "read" && name != "write" && name != "reply") return false;
  tokens.take();
  tokens.take();
  if (name == "read") {
    auto list = read_read_list(tokens);
    if (!list) return fail_from(list);
    send.reads = std::move(*list);
  } else if (name == "write") {
    auto list = read_write_list(tokens);
    if (!list) return fail_from(list);
    send.writes = std::move(*list);
  } else {
    auto chunk = read_chunk(tokens);
    if (!chunk) return fail_from(chunk);
    send.reply = std::move(*chunk);
  }
  return true;
}

Result<void> read_operations(Tokens& tokens, Send& send) {
  for (tokens.skip_lines(); !tokens.take_mark("}"); tokens.skip_lines()) {
    auto operation = read_operation(tokens);
    if (!operation) return fail_from(operation);
    send.operations.push_back(std::move(*operation));
  }
  return {};
}

Result<Statement> read_send(Tokens& tokens, const Token& word) {
  Send send;
  send.wait = word.text == "compound";
  send.options.line = word.line;
  while (tokens.next().kind == Token::Kind::word) {
    if (tokens.take_word("null")) {
      send.null_procedure = true;
      continue;
    }
    auto list = read_list(tokens, send);
    if (!list) return fail_from(list);
    if (*list) continue;
    if (!tokens.peek(1).is("=")) {
      return wrong(tokens.line(), name_of(tokens.next()) + " is not understood here");
    }
    const std::string name = tokens.take().text;
    tokens.take();
    auto value = read_node(tokens);
    if (!value) return fail_from(value);
    send.options.add(name, std::move(*value));
  }
  if (tokens.take_mark("{")) TRY(read_operations(tokens, send));
  if (tokens.take_mark("->")) {
    const Token name = tokens.take();
    if (name.kind != Token::Kind::word) return wrong(name.line, "no name stands behind ->");
    send.name = name.text;
  }
  return Statement{word.line, std::move(send)};
}

Result<Statement> read_raw(Tokens& tokens, int line) {
  std::string digits = "0x";
  while (tokens.next().kind == Token::Kind::word) {
    const Token part = tokens.take();
    std::string_view pairs = part.text;
    if (pairs.starts_with("0x")) pairs.remove_prefix(2);
    digits.append(pairs);
  }
  auto bytes = to_bytes(digits);
  if (!bytes) return wrong(line, "send raw takes pairs of hexadecimal digits");
  return Statement{line, SendRaw{std::move(*bytes)}};
}

}  // namespace

Result<Statement> read_sending(Tokens& tokens, const Token& word) {
  if (word.text == "resend") {
    Resend resend;
    if (tokens.next().kind == Token::Kind::word) {
      auto xid = read_node(tokens);
      if (!xid) return fail_from(xid);
      resend.xid = std::move(*xid);
    }
    return Statement{word.line, std::move(resend)};
  }
  if (word.text == "send" && tokens.take_word("raw")) return read_raw(tokens, word.line);
  return read_send(tokens, word);
}

}  // namespace nfsrdma::lab::script
