#include "tests/lab/text/token.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace nfsrdma::lab {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kMarks = "{}[](),;=<>!";
constexpr std::array<std::string_view, 5> kLongMarks = {"->", "==", "!=", "<=", ">="};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  Result<std::vector<Token>> run() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '\n') {
        add(Token::Kind::line, "\n", 1);
        ++line_;
      } else if (kSpaces.find(c) != std::string_view::npos) {
        rest_.remove_prefix(1);
      } else if (c == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (c == '"') {
        TRY(quoted());
      } else if (!mark()) {
        TRY(word());
      }
    }
    add(Token::Kind::ended, "", 0);
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::string text, std::size_t bytes) {
    tokens_.push_back({kind, std::move(text), line_});
    rest_.remove_prefix(bytes);
  }
  bool mark() {
    for (const std::string_view each : kLongMarks) {
      if (!rest_.starts_with(each)) continue;
      add(Token::Kind::mark, std::string(each), each.size());
      return true;
    }
    if (kMarks.find(rest_.front()) == std::string_view::npos) return false;
    add(Token::Kind::mark, std::string(1, rest_.front()), 1);
    return true;
  }
  Result<void> word() {
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] > ' ' && rest_[end] < '\x7f' && rest_[end] != '"' &&
           kMarks.find(rest_[end]) == std::string_view::npos &&
           !rest_.substr(end).starts_with("->")) {
      ++end;
    }
    if (end == 0) return wrong(line_, "a character that is no plain text; write it as \"\\xNN\"");
    add(Token::Kind::word, std::string(rest_.substr(0, end)), end);
    return {};
  }
  /// The character that `rest_` begins with behind a backslash, which is taken.
  std::optional<char> escaped() {
    const char c = rest_.front();
    if (c == 'x') {
      if (rest_.size() < 3 || digit(rest_[1]) < 0 || digit(rest_[2]) < 0) return std::nullopt;
      const char value = static_cast<char>(digit(rest_[1]) << 4 | digit(rest_[2]));
      rest_.remove_prefix(3);
      return value;
    }
    if (c != '"' && c != '\\' && c != 'n') return std::nullopt;
    rest_.remove_prefix(1);
    return c == 'n' ? '\n' : c;
  }
  Result<void> quoted() {
    std::string value;
    rest_.remove_prefix(1);
    for (;;) {
      if (rest_.empty() || rest_.front() == '\n') return wrong(line_, "text without its end (\")");
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') break;
      if (c != '\\') {
        value += c;
        continue;
      }
      const auto resolved = rest_.empty() ? std::nullopt : escaped();
      if (!resolved) return wrong(line_, "behind \\ stands one of \\ \" n and xNN");
      value += *resolved;
    }
    add(Token::Kind::text, std::move(value), 0);
    return {};
  }

  std::string_view rest_;
  std::vector<Token> tokens_;
  int line_ = 1;
};

}  // namespace

tl::unexpected<Error> wrong(int line, const std::string& what) {
  return fail(Error::local(EINVAL, "script", fmt::format("{}: {}", line, what)));
}

Result<std::vector<Token>> read_tokens(std::string_view text) {
  if (text.size() > kMaxText) return wrong(1, "more than 64 MiB of text");
  return Scanner(text).run();
}

bool Tokens::take_mark(std::string_view mark) {
  if (!next().is(mark)) return false;
  take();
  return true;
}

bool Tokens::take_word(std::string_view word) {
  if (!next().is_word(word)) return false;
  take();
  return true;
}

Result<void> Tokens::expect_mark(std::string_view mark) {
  if (take_mark(mark)) return {};
  return wrong(line(), fmt::format("'{}' is missing before {}", mark, name_of(next())));
}

void Tokens::skip_lines() {
  while (next().kind == Token::Kind::line || next().is(";")) take();
}

std::string name_of(const Token& token) {
  switch (token.kind) {
    case Token::Kind::line: return "the end of the line";
    case Token::Kind::ended: return "the end of the script";
    case Token::Kind::text: return "\"" + token.text + "\"";
    default: return "'" + token.text + "'";
  }
}

}  // namespace nfsrdma::lab
