#include "fuse/options/option_table.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "fuse/options/option_groups.h"
#include "transport/base/similar.h"

namespace nfsrdma::fuse {

tl::unexpected<Error> bad_value(std::string detail) {
  return fail(Error::local(EINVAL, "", std::move(detail)));
}

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = [] {
    std::vector<OptionSpec> all;
    const auto add = [&](OptionKind kind, std::span<const OptionSpec> group) {
      for (const auto& spec : group) all.emplace_back(spec).kind = kind;
    };
    add(OptionKind::ours, own_options());
    add(OptionKind::nfs, nfs_options());
    add(OptionKind::mount, mount_options());
    add(OptionKind::ignored, ignored_options());
    add(OptionKind::refused, refused_options());
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
  std::vector<std::string_view> names;
  for (const auto& spec : option_table()) names.push_back(spec.name);
  return most_similar(name, names);
}

std::string option_usage(const OptionSpec& spec) {
  std::string usage(spec.name);
  if (!spec.takes_value()) return usage;
  const std::string value = '=' + std::string(spec.argument);
  return usage + (spec.value_optional ? '[' + value + ']' : value);
}

}  // namespace nfsrdma::fuse
