// A value in its text form, as a tree: what Print writes, what a script says, what an expectation
// looks into.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/text/token.h"

namespace nfsrdma::lab {

struct Node {
  enum class Kind : unsigned char { word, text, list, record };
  Kind kind = Kind::record;
  std::string text;                ///< of a word or a text
  std::vector<Node> items;         ///< of a list or a record
  std::vector<std::string> names;  ///< of a record's items
  int line = 0;                    ///< where it stood

  static Node word(std::string text, int line = 0) {
    return {Kind::word, std::move(text), {}, {}, line};
  }
  static Node quoted(std::string text, int line = 0) {
    return {Kind::text, std::move(text), {}, {}, line};
  }
  static Node number(std::uint64_t value) { return word(std::to_string(value)); }
  /// Adds to a record.
  void add(std::string name, Node value) {
    names.push_back(std::move(name));
    items.push_back(std::move(value));
  }
  /// The item of that name, or null; the first one if there are several.
  const Node* find(std::string_view name) const;
  /// Follows "resok4.stateid.seqid"; a list's items are numbered from 1, "gids.2", and so are items
  /// of one name, "READ#2". Null where there is none.
  const Node* at(std::string_view path) const;
};

/// Reads one value; lines may end within brackets.
Result<Node> read_node(Tokens& tokens);
/// The same of a text that has nothing else.
Result<Node> read_node(std::string_view text);
/// As it would be read again.
std::string to_text(const Node& node);

/// Values by name.
using Bindings = std::map<std::string, Node, std::less<>>;
/// The value with each word "$name" or "$name.path" replaced by what it stands for.
Result<Node> resolve(const Node& node, const Bindings& bindings);

/// A number in decimal or, with 0x, in hexadecimal; K, M and G behind a decimal one are units of
/// 1024.
std::optional<std::uint64_t> to_number(std::string_view word);
/// The bytes that "0x1f00" stands for.
std::optional<std::vector<std::byte>> to_bytes(std::string_view word);
/// "0x1f00"
std::string to_hex(std::span<const std::byte> bytes);

}  // namespace nfsrdma::lab
