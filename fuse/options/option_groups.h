// The parts of the option table, one file each, and their common helpers.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {

std::span<const OptionSpec> own_options();
std::span<const OptionSpec> nfs_options();
std::span<const OptionSpec> mount_options();
std::span<const OptionSpec> ignored_options();
std::span<const OptionSpec> refused_options();

/// A value that cannot be taken; the parser adds the option's name.
tl::unexpected<Error> bad_value(std::string detail);

constexpr OptionSpec flag(std::string_view name, std::string_view doc, ApplyOption apply) {
  return {.name = name, .doc = doc, .apply = apply};
}

constexpr OptionSpec with_value(std::string_view name, std::string_view argument,
                                std::string_view default_value, std::string_view doc,
                                ApplyOption apply) {
  return {name, argument, default_value, doc, 0, 0, apply};
}

/// Both are included.
struct NumberRange {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};

constexpr OptionSpec number(std::string_view name, std::string_view argument,
                            std::string_view default_value, NumberRange range, std::string_view doc,
                            ApplyOption apply) {
  return {name, argument, default_value, doc, range.min, range.max, apply};
}

/// A field of the options, at the end of a path of members such as
/// `&Options::transport, &TransportOptions::crc`.
template <auto... Path>
auto& field_of(Options& options) {
  return (options.*....*Path);
}

template <auto... Path>
Result<void> set_text(Options& options, const OptionValue& value) {
  field_of<Path...>(options) = value.text;
  return {};
}

template <auto... Path>
Result<void> set_number(Options& options, const OptionValue& value) {
  auto& field = field_of<Path...>(options);
  field = static_cast<std::remove_reference_t<decltype(field)>>(value.number);
  return {};
}

/// The number counts mebibytes, and the field bytes.
template <auto... Path>
Result<void> set_mebibytes(Options& options, const OptionValue& value) {
  constexpr unsigned kMebibyteShift = 20;
  return set_number<Path...>(options, {value.name, value.text, value.number << kMebibyteShift});
}

template <class Unit, auto... Path>
Result<void> set_duration(Options& options, const OptionValue& value) {
  field_of<Path...>(options) = Unit(value.number);
  return {};
}

template <bool Setting, auto... Path>
Result<void> set_flag(Options& options, const OptionValue&) {
  field_of<Path...>(options) = Setting;
  return {};
}

/// Stores what a word stands for. `expected` is said of a word that is none of them.
template <class T>
Result<void> choose(T& field, std::string_view word,
                    std::initializer_list<std::pair<std::string_view, T>> words,
                    std::string_view expected) {
  for (const auto& [known, meaning] : words) {
    if (known != word) continue;
    field = meaning;
    return {};
  }
  return bad_value(std::string(expected));
}

}  // namespace nfsrdma::fuse
