#include "tests/lab/shrink/parts.h"

#include <algorithm>
#include <cctype>

#include "tests/lab/text/operations.h"

namespace nfsrdma::lab::shrink {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool opens(char c) { return c == '{' || c == '[' || c == '('; }
bool closes(char c) { return c == '}' || c == ']' || c == ')'; }

/// Of a word, as ../text/token.cc reads them: within one, # begins no comment.
bool is_of_word(char c) {
  constexpr std::string_view kMarks = "{}[](),;=<>!\"";
  return c > ' ' && c < '\x7f' && kMarks.find(c) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Goes through a text by characters that mean something: not those in quotes and comments.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  /// False at the end of the text; else at() is the next such character.
  bool next() {
    ++at_;
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        skip_quotes();
      } else if (text_[at_] == '#' && (at_ == 0 || !is_of_word(text_[at_ - 1]))) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return true;
      }
    }
    return false;
  }
  std::size_t at() const { return at_; }
  char now() const { return text_[at_]; }

 private:
  void skip_quotes() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = static_cast<std::size_t>(-1);
};

/// Statements end with the line or ';', outside of brackets.
std::vector<std::string_view> split_statements(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t begin = 0;
  std::size_t depth = 0;
  const auto end = [&](std::size_t at) {
    const std::string_view one = trimmed(text.substr(begin, at - begin));
    if (!one.empty() && !one.starts_with('#')) all.push_back(one);
    begin = std::min(at + 1, text.size());
  };
  Scan scan(text);
  while (scan.next()) {
    if (opens(scan.now())) ++depth;
    if (closes(scan.now()) && depth > 0) --depth;
    if (depth == 0 && (scan.now() == '\n' || scan.now() == ';')) end(scan.at());
  }
  end(text.size());
  return all;
}

std::vector<std::string_view> split_operations(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t begin = std::string_view::npos;
  std::size_t depth = 0;
  Scan scan(text);
  const auto end = [&](std::size_t at) {
    if (begin != std::string_view::npos) all.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at;
  };
  while (scan.next()) {
    const char c = scan.now();
    const bool starts = is_of_word(c) && (scan.at() == 0 || !is_of_word(text[scan.at() - 1]));
    if (starts && depth == 0) {
      const auto word = text.substr(scan.at());
      const auto stop = std::find_if_not(word.begin(), word.end(), is_of_word);
      if (is_operation(std::string_view(word.begin(), stop))) end(scan.at());
    }
    if (opens(c)) ++depth;
    if (closes(c) && depth > 0) --depth;
  }
  end(text.size());
  return all;
}

/// The block of a statement: braces that are no value of an option.
struct Block {
  std::size_t open = std::string_view::npos;
  std::size_t close = std::string_view::npos;
};
Block find_block(std::string_view statement) {
  Block block;
  std::size_t depth = 0;
  char before = ' ';
  Scan scan(statement);
  while (scan.next()) {
    const char c = scan.now();
    if (depth == 0 && c == '{' && before != '=' && block.open == std::string_view::npos) {
      block.open = scan.at();
    }
    if (opens(c)) ++depth;
    if (closes(c) && depth > 0 && --depth == 0 && block.open != std::string_view::npos) {
      block.close = scan.at();
      return block;
    }
    if (!is_blank(c)) before = c;
  }
  return {};
}

Part read_statement(std::string_view text, std::size_t depth);

std::vector<Part> read_statements(std::string_view text, std::size_t depth) {
  std::vector<Part> all;
  for (const std::string_view one : split_statements(text)) {
    all.push_back(read_statement(one, depth));
  }
  return all;
}

Part read_statement(std::string_view text, std::size_t depth) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\n{"));
  const bool repeat = word == "repeat";
  const bool sends = word == "compound" || word == "send";
  const Block block = repeat || sends ? find_block(text) : Block{};
  if (block.close == std::string_view::npos || depth == kDeepest) {
    return {std::string(text), {}, {}, false};
  }
  Part part;
  part.before = text.substr(0, block.open + 1);
  part.after = text.substr(block.close);
  part.statements = repeat;
  const std::string_view inner = text.substr(block.open + 1, block.close - block.open - 1);
  if (repeat) {
    part.parts = read_statements(inner, depth + 1);
  } else {
    for (const std::string_view one : split_operations(inner)) {
      part.parts.push_back({std::string(one), {}, {}, false});
    }
  }
  return part;
}

/// What must end before more may follow: a comment ends with its line.
bool may_end_with_comment(const Part& part) {
  return (part.parts.empty() ? part.before : part.after).find('#') != std::string::npos;
}

void append(std::string& text, const Part& part) {
  text += part.before;
  bool new_line = part.statements;
  for (const Part& each : part.parts) {
    text += new_line ? "\n" : " ";
    append(text, each);
    new_line = part.statements || may_end_with_comment(each);
  }
  if (!part.after.empty()) text += new_line ? "\n" : " ";
  text += part.after;
}

}  // namespace

Part read_parts(std::string_view text) { return {"", read_statements(text, 0), "", true}; }

std::string to_text(const Part& script) {
  std::string text;
  for (const Part& each : script.parts) {
    append(text, each);
    text += "\n";
  }
  return text;
}

std::size_t count_statements(const Part& part) {
  std::size_t count = part.statements ? part.parts.size() : 0;
  for (const Part& each : part.parts) count += count_statements(each);
  return count;
}

std::size_t count_operations(const Part& part) {
  std::size_t count = part.statements ? 0 : part.parts.size();
  for (const Part& each : part.parts) count += count_operations(each);
  return count;
}

}  // namespace nfsrdma::lab::shrink
