#include "fuse/channel/mount_table.h"

#include <fstream>
#include <iterator>

#include "transport/base/line_text.h"

namespace nfsrdma::fuse {
namespace {

// Fields of a line (proc(5)): id parent major:minor root mount-point options tags... - type source
constexpr std::size_t kIdField = 0;
constexpr std::size_t kParentField = 1;
constexpr std::size_t kDeviceField = 2;
constexpr std::size_t kMountPoint = 4;
constexpr std::size_t kBeforeSeparator = 6;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::optional<MountEntry> parse_line(std::string_view line) {
  const auto words = words_of(line);
  for (std::size_t i = kBeforeSeparator; i + 2 < words.size(); ++i) {
    if (words[i] != "-") continue;
    return MountEntry{whole_number<std::uint64_t>(words[kIdField]).value_or(0),
                      whole_number<std::uint64_t>(words[kParentField]).value_or(0),
                      std::string(words[kDeviceField]),
                      unescape_line(words[kMountPoint]),
                      unescape_line(words[i + 1]),
                      unescape_line(words[i + 2])};
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
    auto entry = parse_line(take_line(mountinfo));
    if (entry) table.push_back(std::move(*entry));
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
