#include "fuse/ctl/counters.h"

#include "transport/base/line_text.h"

namespace nfsrdma::ctl {

Counters parse_counters(std::string_view text) {
  Counters counters;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const auto value = whole_number<std::uint64_t>(line.substr(space + 1));
    if (value) counters[std::string(line.substr(0, space))] = *value;
  }
  return counters;
}

std::vector<Result<Counters>> counters_of(std::span<const Mount> mounts) {
  std::vector<Result<Counters>> all;
  for (auto& text : ask_each(mounts, "counters")) {
    if (text) {
      all.emplace_back(parse_counters(*text));
    } else {
      all.emplace_back(fail_from(text));
    }
  }
  return all;
}

std::uint64_t value_of(const Counters& counters, std::string_view name) {
  const auto place = counters.find(name);
  return place == counters.end() ? 0 : place->second;
}

}  // namespace nfsrdma::ctl
