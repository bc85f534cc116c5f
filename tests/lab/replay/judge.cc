#include "tests/lab/replay/judge.h"

#include <algorithm>
#include <map>

#include "tests/lab/replay/steps.h"

namespace nfsrdma::lab::replay {
namespace {

using script::Difference;

/// What an operation's result has in the place of a status: its first field.
std::string status_path(const std::string& place, const Node& result) {
  return result.items.empty() ? place : place + "." + result.names.front();
}

}  // namespace

std::optional<Difference> find_difference(const Node& captured, const Node& came) {
  script::Normalise normalise(false);
  const Node left = normalise(captured);
  const Node right = normalise(came);
  std::map<std::string, std::size_t> times;
  const std::size_t common = std::min(left.items.size(), right.items.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::string& name = left.names[i];
    const std::size_t nth = ++times[name];
    const std::string place = nth == 1 ? name : name + "#" + std::to_string(nth);
    if (name == "status") continue;  // that of the last operation
    if (name != right.names[i]) return Difference{0, place, "an answer", "none"};
    const std::string first = status_of(left.items[i]);
    const std::string second = status_of(right.items[i]);
    if (first != second) return Difference{0, status_path(place, left.items[i]), first, second};
    auto found = script::first_difference(left.items[i], right.items[i], place);
    if (found) return found;
  }
  if (left.items.size() != right.items.size()) {
    const bool more = left.items.size() > common;
    const std::string& name = more ? left.names[common] : right.names[common];
    return Difference{0, name, more ? "an answer" : "none", more ? "none" : "an answer"};
  }
  return script::first_difference(left, right, "");
}

}  // namespace nfsrdma::lab::replay
