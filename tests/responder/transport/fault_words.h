// Words and numbers of a fault rule.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nfsrdma::responder {

/// A whole decimal number, or a hexadecimal one behind 0x.
template <class T>
std::optional<T> number_in(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same with a sign in front, which may be a plus.
inline std::optional<std::int64_t> signed_number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return number_in<std::int64_t>(text);
}

/// Splits off the text before the separator; `text` keeps the rest.
inline std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace nfsrdma::responder
