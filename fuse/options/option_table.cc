#include "fuse/options/option_table.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>
#include <vector>

#include "fuse/options/option_groups.h"

namespace nfsrdma::fuse {
namespace {

/// How many letters must be put in, left out or replaced to make one name of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

tl::unexpected<Error> bad_value(std::string detail) {
  return fail(Error::local(EINVAL, "", std::move(detail)));
}

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = [] {
    std::vector<OptionSpec> all;
    for (auto group :
         {own_options(), nfs_options(), mount_options(), ignored_options(), refused_options()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return table;
}

const OptionSpec* find_option(std::string_view name) {
  if (name.starts_with("x-")) name = "x-*";
  for (const auto& spec : option_table()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::string_view similar_option(std::string_view name) {
  constexpr std::size_t kShortName = 3;
  std::size_t least = name.size() > kShortName ? 3 : 2;
  std::string_view similar;
  for (const auto& spec : option_table()) {
    const std::size_t distance = edit_distance(name, spec.name);
    if (distance >= least) continue;
    least = distance;
    similar = spec.name;
  }
  return similar;
}

std::string option_usage(const OptionSpec& spec) {
  std::string usage(spec.name);
  if (!spec.takes_value()) return usage;
  const std::string value = '=' + std::string(spec.argument);
  return usage + (spec.value_optional ? '[' + value + ']' : value);
}

}  // namespace nfsrdma::fuse
