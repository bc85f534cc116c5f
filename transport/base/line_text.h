// Text of lines, and text that stays within its line, whatever is in it: names of files are any
// bytes but 0 and "/".
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace nfsrdma {

/// Control characters, backslashes and those of `others` as \ooo, as the kernel writes mountinfo.
std::string escape_line(std::string_view text, std::string_view others = {});

/// The text that was escaped.
std::string unescape_line(std::string_view text);

/// Takes a line off `text`, without its end.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// The decimal number that `text` is; none: it is more than that, or does not fit.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace nfsrdma
