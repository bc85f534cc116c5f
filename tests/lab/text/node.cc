#include "tests/lab/text/node.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <span>

namespace nfsrdma::lab {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

Result<Node> read_nested(Tokens& tokens, std::size_t depth);

Result<Node> read_list(Tokens& tokens, std::size_t depth) {
  Node list{Node::Kind::list, "", {}, {}, tokens.line()};
  for (tokens.skip_lines(); !tokens.take_mark("]"); tokens.skip_lines()) {
    auto item = read_nested(tokens, depth);
    if (!item) return fail_from(item);
    list.items.push_back(std::move(*item));
    tokens.take_mark(",");
  }
  return list;
}

Result<Node> read_record(Tokens& tokens, std::size_t depth) {
  Node record{Node::Kind::record, "", {}, {}, tokens.line()};
  for (tokens.skip_lines(); !tokens.take_mark("}"); tokens.skip_lines()) {
    const Token name = tokens.take();
    if (name.kind != Token::Kind::word) {
      return wrong(name.line, "a field's name is missing before " + name_of(name));
    }
    TRY(tokens.expect_mark("="));
    auto item = read_nested(tokens, depth);
    if (!item) return fail_from(item);
    record.add(name.text, std::move(*item));
    tokens.take_mark(",");
  }
  return record;
}

Result<Node> read_nested(Tokens& tokens, std::size_t depth) {
  const Token token = tokens.take();
  if (token.kind == Token::Kind::word) return Node::word(token.text, token.line);
  if (token.kind == Token::Kind::text) return Node::quoted(token.text, token.line);
  if (depth == kMaxNesting) return wrong(token.line, "brackets are nested too deeply");
  if (token.is("[")) return read_list(tokens, depth + 1);
  if (token.is("{")) return read_record(tokens, depth + 1);
  return wrong(token.line, "a value is missing before " + name_of(token));
}

void append(std::string& out, const Node& node) {
  switch (node.kind) {
    case Node::Kind::word: out += node.text; return;
    case Node::Kind::text:
      out += '"';
      for (const char c : node.text) {
        if (is_plain(c)) {
          out += c;
        } else {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
      }
      out += '"';
      return;
    default: break;
  }
  const bool record = node.kind == Node::Kind::record;
  out += record ? '{' : '[';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (i > 0) out += ' ';
    if (record) out += node.names[i] + '=';
    append(out, node.items[i]);
  }
  out += record ? '}' : ']';
}

const Node* find_numbered(const Node& record, std::string_view name) {
  const std::size_t hash = std::min(name.find('#'), name.size());
  if (hash == name.size()) return record.find(name);
  auto left = to_number(name.substr(hash + 1)).value_or(0);
  for (std::size_t i = 0; i < record.items.size() && left > 0; ++i) {
    if (record.names[i] == name.substr(0, hash) && --left == 0) return &record.items[i];
  }
  return nullptr;
}

const Node* step(const Node& node, std::string_view name) {
  if (node.kind == Node::Kind::record) return find_numbered(node, name);
  const auto index = to_number(name);
  if (node.kind != Node::Kind::list || !index || *index == 0 || *index > node.items.size()) {
    return nullptr;
  }
  return &node.items[*index - 1];
}

}  // namespace

const Node* Node::find(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return &items[i];
  }
  return nullptr;
}

const Node* Node::at(std::string_view path) const {
  const Node* here = this;
  while (here && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    here = step(*here, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return here;
}

Result<Node> read_node(Tokens& tokens) { return read_nested(tokens, 0); }

Result<Node> read_node(std::string_view text) {
  auto all = read_tokens(text);
  if (!all) return fail_from(all);
  Tokens tokens(*all);
  auto node = read_node(tokens);
  tokens.skip_lines();
  if (node && tokens.next().kind != Token::Kind::ended) {
    return wrong(tokens.line(), "behind the value stands " + name_of(tokens.next()));
  }
  return node;
}

std::string to_text(const Node& node) {
  std::string out;
  append(out, node);
  return out;
}

Result<Node> resolve(const Node& node, const Bindings& bindings) {
  if (node.kind == Node::Kind::word && node.text.starts_with('$')) {
    const std::string_view path = std::string_view(node.text).substr(1);
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = bindings.find(path.substr(0, dot));
    if (found == bindings.end()) return wrong(node.line, node.text + " was given no value");
    const Node* value = found->second.at(path.substr(std::min(dot + 1, path.size())));
    if (!value) {
      return wrong(node.line, fmt::format("{}: there is no such field in {}", node.text,
                                          to_text(found->second)));
    }
    Node copy = *value;
    copy.line = node.line;
    return copy;
  }
  Node copy = node;
  for (Node& item : copy.items) {
    auto resolved = resolve(item, bindings);
    if (!resolved) return fail_from(resolved);
    item = std::move(*resolved);
  }
  return copy;
}

std::optional<std::uint64_t> to_number(std::string_view word) {
  constexpr int kDecimal = 10, kHexadecimal = 16;
  const bool hexadecimal = word.starts_with("0x");
  if (hexadecimal) word.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value, hexadecimal ? kHexadecimal : kDecimal);
  if (word.empty() || read.ec != std::errc()) return std::nullopt;
  if (read.ptr == end) return value;
  const std::size_t unit = std::string_view("KMG").find(*read.ptr);
  if (hexadecimal || unit == std::string_view::npos || read.ptr + 1 != end) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

std::optional<std::vector<std::byte>> to_bytes(std::string_view word) {
  if (!word.starts_with("0x") || word.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(word.size() / 2 - 1);
  for (std::size_t i = 2; i < word.size(); i += 2) {
    unsigned value = 0;
    const char* end = word.data() + i + 2;
    const auto read = std::from_chars(word.data() + i, end, value, 16);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  text.reserve(2 + 2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 0xf];
  }
  return text;
}

}  // namespace nfsrdma::lab
