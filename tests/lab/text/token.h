// Words of a script and of the text form of operations (tests/proto/print.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::lab {

/// Bytes of one script at most, and how deep its brackets may be nested.
inline constexpr std::size_t kMaxText = 64 * 1024 * 1024;
inline constexpr std::size_t kMaxNesting = 64;

struct Token {
  enum class Kind : unsigned char {
    word,   ///< READ, 4096, 0x1f, $f.fh
    text,   ///< what stood in quotes, escapes resolved
    mark,   ///< { } [ ] ( ) = , ; -> == != < <= > >=
    line,   ///< the end of a line
    ended,  ///< the end of the text; the last token is one
  };
  Kind kind = Kind::ended;
  std::string text;
  int line = 0;
  bool is(std::string_view mark) const { return kind == Kind::mark && text == mark; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

/// "LINE: what", which the caller puts the name of the file in front of.
tl::unexpected<Error> wrong(int line, const std::string& what);

/// A `#` in front of a word begins a comment.
Result<std::vector<Token>> read_tokens(std::string_view text);

/// Goes through tokens; never beyond the last one.
class Tokens {
 public:
  /// `tokens` is not empty, ends with Kind::ended, and outlives this.
  explicit Tokens(const std::vector<Token>& tokens) : tokens_(&tokens) {}

  const Token& next() const { return (*tokens_)[at_]; }
  /// The token `ahead` places behind the next one, or the last of all.
  const Token& peek(std::size_t ahead) const {
    return (*tokens_)[std::min(at_ + ahead, tokens_->size() - 1)];
  }
  Token take() {
    const Token& now = next();
    if (now.kind != Token::Kind::ended) ++at_;
    return now;
  }
  /// Takes the next token if it is this mark, or this word.
  bool take_mark(std::string_view mark);
  bool take_word(std::string_view word);
  Result<void> expect_mark(std::string_view mark);
  void skip_lines();
  int line() const { return next().line; }
  std::size_t position() const { return at_; }

 private:
  const std::vector<Token>* tokens_;
  std::size_t at_ = 0;
};

/// How a token is named in a message: "'{'", "the end of the line".
std::string name_of(const Token& token);

}  // namespace nfsrdma::lab
