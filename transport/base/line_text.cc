#include "transport/base/line_text.h"

#include <fmt/format.h>

namespace nfsrdma {
namespace {

constexpr std::size_t kDigits = 3;

bool is_control(unsigned char c) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  return c < kFirstPrintable || c == kDelete;
}

bool is_escape(std::string_view digits) {
  return digits.size() == kDigits && digits[0] >= '0' && digits[0] <= '3' &&
         digits.find_first_not_of("01234567") == std::string_view::npos;
}

}  // namespace

std::string escape_line(std::string_view text, std::string_view others) {
  std::string line;
  for (const char c : text) {
    const bool plain = !is_control(static_cast<unsigned char>(c)) && c != '\\' &&
                       others.find(c) == std::string_view::npos;
    if (plain) {
      line += c;
    } else {
      line += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return line;
}

std::string unescape_line(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i + 1, kDigits);
    if (text[i] == '\\' && is_escape(digits)) {
      plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
      i += kDigits;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace nfsrdma
