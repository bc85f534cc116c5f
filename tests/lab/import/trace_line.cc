#include "tests/lab/import/trace_line.h"

#include <algorithm>
#include <charconv>

namespace nfsrdma::lab::import {
namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return c >= '0' && c <= '9'; });
}

/// "1234.567890:"
bool is_time(std::string_view word) {
  if (!word.ends_with(':')) return false;
  word.remove_suffix(1);
  const std::size_t point = word.find('.');
  return point != std::string_view::npos && is_digits(word.substr(0, point)) &&
         is_digits(word.substr(point + 1));
}

bool is_event(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Where "NAME=" begins a word; npos: nowhere.
std::size_t find_field(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const bool begins = at == 0 || kBlanks.find(text[at - 1]) != std::string_view::npos;
    const std::size_t behind = at + name.size();
    if (begins && behind < text.size() && text[behind] == '=') return behind + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::optional<TraceLine> read_line(std::string_view line) {
  while (!line.empty()) {
    if (!is_time(next_word(line))) continue;
    std::string_view name = next_word(line);
    if (!name.ends_with(':')) return {};
    name.remove_suffix(1);
    if (!is_event(name)) return {};
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    return TraceLine{name, line};
  }
  return {};
}

std::optional<std::string_view> rest_of_field(std::string_view text, std::string_view name) {
  const std::size_t at = find_field(text, name);
  if (at == std::string_view::npos) return {};
  return text.substr(at);
}

std::optional<std::string_view> field(std::string_view text, std::string_view name) {
  const auto rest = rest_of_field(text, name);
  if (!rest) return {};
  return rest->substr(0, rest->find_first_of(kBlanks));
}

std::optional<std::uint64_t> number(std::string_view word) {
  constexpr int kDecimal = 10, kHexadecimal = 16;
  const bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto read =
      std::from_chars(word.data(), word.data() + word.size(), value, hex ? kHexadecimal : kDecimal);
  if (read.ec != std::errc()) return {};
  return value;
}

std::optional<std::uint64_t> number_field(std::string_view text, std::string_view name) {
  const auto word = field(text, name);
  return word ? number(*word) : std::nullopt;
}

}  // namespace nfsrdma::lab::import
