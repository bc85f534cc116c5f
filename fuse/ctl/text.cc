#include "fuse/ctl/text.h"

#include <fmt/format.h>

namespace nfsrdma::ctl {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// A form of RFC 3629, section 4: the first byte, how many follow, and the bounds of the second.
struct Form {
  unsigned char first;
  unsigned char last;
  std::size_t following;
  unsigned char second_first = 0x80;
  unsigned char second_last = 0xbf;
};

constexpr Form kForms[] = {
    {0x00, 0x7f, 0},              //
    {0xc2, 0xdf, 1},              //
    {0xe0, 0xe0, 2, 0xa0},        // no longer form than is needed
    {0xe1, 0xec, 2},              //
    {0xed, 0xed, 2, 0x80, 0x9f},  // no surrogates
    {0xee, 0xef, 2},              //
    {0xf0, 0xf0, 3, 0x90},        //
    {0xf1, 0xf3, 3},              //
    {0xf4, 0xf4, 3, 0x80, 0x8f},  // up to U+10FFFF
};

bool is_within(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

bool follows(std::string_view rest, const Form& form) {
  if (rest.size() <= form.following) return false;
  for (std::size_t i = 1; i <= form.following; ++i) {
    const bool second = i == 1;
    if (!is_within(rest[i], second ? form.second_first : 0x80, second ? form.second_last : 0xbf)) {
      return false;
    }
  }
  return true;
}

/// Bytes of the character that the text begins with; 0 when that is none.
std::size_t character_length(std::string_view text) {
  for (const Form& form : kForms) {
    if (!is_within(text.front(), form.first, form.last)) continue;
    return follows(text, form) ? form.following + 1 : 0;
  }
  return 0;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      result += kReplacement;
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

std::string json_string(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  std::string quoted = "\"";
  for (const char c : as_utf8(text)) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < kFirstPrintable) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace nfsrdma::ctl
