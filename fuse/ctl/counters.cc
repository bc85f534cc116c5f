#include "fuse/ctl/counters.h"

#include <algorithm>
#include <charconv>

namespace nfsrdma::ctl {

Counters parse_counters(std::string_view text) {
  Counters counters;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    std::uint64_t value = 0;
    const auto [end, fault] =
        std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
    if (fault == std::errc() && end == line.data() + line.size()) {
      counters[std::string(line.substr(0, space))] = value;
    }
  }
  return counters;
}

Result<Counters> counters_of(const Mount& mount) {
  auto text = ask(mount.socket, "counters");
  if (!text) return fail_from(text);
  return parse_counters(*text);
}

std::uint64_t value_of(const Counters& counters, std::string_view name) {
  const auto place = counters.find(name);
  return place == counters.end() ? 0 : place->second;
}

}  // namespace nfsrdma::ctl
