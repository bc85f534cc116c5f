#include "fuse/channel/mount_table.h"

#include <charconv>
#include <fstream>
#include <iterator>

namespace nfsrdma::fuse {
namespace {

// Fields of a line (proc(5)): id parent major:minor root mount-point options tags... - type source
constexpr std::size_t kIdField = 0;
constexpr std::size_t kParentField = 1;
constexpr std::size_t kDeviceField = 2;
constexpr std::size_t kMountPoint = 4;
constexpr std::size_t kBeforeSeparator = 6;
constexpr std::size_t kOctalDigits = 3;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool is_octal(std::string_view digits) {
  return digits.size() == kOctalDigits &&
         digits.find_first_not_of("01234567") == std::string_view::npos;
}

/// The kernel writes blanks, line ends and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i + 1, kOctalDigits);
    if (text[i] == '\\' && is_octal(digits)) {
      plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
      i += kOctalDigits;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::uint64_t decimal(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<MountEntry> parse_line(std::string_view line) {
  const auto words = words_of(line);
  for (std::size_t i = kBeforeSeparator; i + 2 < words.size(); ++i) {
    if (words[i] != "-") continue;
    return MountEntry{decimal(words[kIdField]),         decimal(words[kParentField]),
                      std::string(words[kDeviceField]), unescape(words[kMountPoint]),
                      unescape(words[i + 1]),           unescape(words[i + 2])};
  }
  return std::nullopt;
}

std::string table_text() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view mountinfo) {
  std::vector<MountEntry> table;
  while (!mountinfo.empty()) {
    const auto end = std::min(mountinfo.find('\n'), mountinfo.size());
    auto entry = parse_line(mountinfo.substr(0, end));
    if (entry) table.push_back(std::move(*entry));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
  }
  return table;
}

std::vector<MountEntry> read_mount_table() { return parse_mount_table(table_text()); }

std::optional<MountEntry> find_mount_in(std::string_view mountinfo, std::string_view mount_point) {
  std::optional<MountEntry> topmost;
  for (auto& entry : parse_mount_table(mountinfo)) {
    if (entry.mount_point == mount_point) topmost = std::move(entry);
  }
  return topmost;
}

std::optional<MountEntry> find_mount(std::string_view mount_point) {
  return find_mount_in(table_text(), mount_point);
}

}  // namespace nfsrdma::fuse
