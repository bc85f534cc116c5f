#include "fuse/options/config_file.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "transport/base/line_text.h"

namespace nfsrdma::fuse {
namespace {

/// In the order in which they are applied: the section nearest to the mount wins.
enum Scope : std::size_t { global, server, mount_point, kScopes };

struct Section {
  Scope scope = global;
  bool ours = false;
};

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool same_path(std::string_view a, std::string_view b) {
  while (a.size() > 1 && a.ends_with('/')) a.remove_suffix(1);
  return a == b;
}

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with(';'); }

/// What stands between the brackets of a line that begins with one. A name in quotes may have
/// brackets, too.
Result<std::string_view> inside_of_header(std::string_view line) {
  const auto quote = line.find('"');
  auto end = line.find(']');
  if (quote < end) end = line.find(']', std::min(line.find('"', quote + 1), line.size()));
  if (end == std::string_view::npos) {
    return fail(Error::local(EINVAL, "configuration", "a section ends with ]"));
  }
  const std::string_view behind = trimmed(line.substr(end + 1));
  if (!behind.empty() && !is_comment(behind)) {
    return fail(Error::local(EINVAL, "configuration",
                             fmt::format("\"{}\" behind the ] of a section", behind)));
  }
  return trimmed(line.substr(1, end - 1));
}

/// Of a line "[ ... ]".
Result<Section> parse_section(std::string_view header, const ConfigTarget& target) {
  auto inside = inside_of_header(header);
  if (!inside) return fail_from(inside);
  const std::string_view text = *inside;
  if (same_word(text, "NFSMount_Global_Options")) return Section{global, true};
  const auto quote = text.find('"');
  const bool named =
      quote != std::string_view::npos && text.size() > quote + 1 && text.ends_with('"');
  const std::string_view kind = trimmed(text.substr(0, std::min(quote, text.size())));
  const std::string_view name =
      named ? text.substr(quote + 1, text.size() - quote - 2) : std::string_view();
  if (named && same_word(kind, "Server")) return Section{server, same_word(name, target.server)};
  if (named && same_word(kind, "MountPoint")) {
    return Section{mount_point, same_path(name, target.mount_point)};
  }
  return fail(Error::local(EINVAL, "configuration",
                           "a section is [ NFSMount_Global_Options ], [ Server \"NAME\" ] or "
                           "[ MountPoint \"PATH\" ]"));
}

/// "soft=True" as "soft", "cto = False" as "nocto".
std::string parse_item(std::string_view line) {
  const auto equals = line.find('=');
  std::string name(trimmed(line.substr(0, equals)));
  if (equals == std::string_view::npos) return name;
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (same_word(value, "True")) return name;
  if (same_word(value, "False")) return "no" + name;
  return fmt::format("{}={}", name, value);
}

}  // namespace

Result<std::vector<std::string>> parse_config(std::string_view text, const ConfigTarget& target) {
  std::array<std::vector<std::string>, kScopes> found;
  Section section;
  bool in_section = false;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || is_comment(line)) continue;
    const bool header = line.starts_with('[');
    auto parsed = header ? parse_section(line, target) : Result<Section>(section);
    if (!parsed || (!header && !in_section)) {
      const std::string why = parsed ? "no section has begun" : parsed.error().detail;
      return fail(Error::local(EINVAL, "configuration", fmt::format("line {}: {}", number, why)));
    }
    section = *parsed;
    in_section = true;
    if (!header && section.ours) found[section.scope].push_back(parse_item(line));
  }
  std::vector<std::string> items;
  for (auto& part : found) items.insert(items.end(), part.begin(), part.end());
  return items;
}

Result<std::vector<std::string>> read_config(const std::string& path, const ConfigTarget& target) {
  std::ifstream file(path);
  if (!file) {
    if (path == kConfigFile && errno == ENOENT) return std::vector<std::string>();
    return fail(Error::local(errno, "configuration", path + " cannot be read"));
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto items = parse_config(text, target);
  if (items) return items;
  return fail(Error::local(EINVAL, "configuration", path + " " + items.error().detail));
}

}  // namespace nfsrdma::fuse
