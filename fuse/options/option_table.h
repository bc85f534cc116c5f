// The one table of options. Parsing, --help and the test against the man page are made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fuse/options/options.h"

namespace nfsrdma::fuse {

/// The origin of an option, and its treatment.
enum class OptionKind : std::uint8_t {
  ours,     ///< particular to this program
  nfs,      ///< nfs(5), same name and meaning
  mount,    ///< mount(8) and FUSE
  ignored,  ///< accepted without effect; doc says why that is harmless
  refused,  ///< refused by name; doc says why, and what to do instead
};

/// One option as given.
struct OptionValue {
  std::string_view name;
  std::string_view text;     ///< empty for an option without a value
  std::uint64_t number = 0;  ///< for options with a range
};

/// Stores a value; an error's detail names the possible values.
using ApplyOption = Result<void> (*)(Options& options, const OptionValue& value);

struct OptionSpec {
  std::string_view name;
  /// The name of the value in the help; empty for an option without one.
  std::string_view argument = {};
  /// Shown in the help; empty when there is none to speak of.
  std::string_view default_value = {};
  /// One line.
  std::string_view doc = {};
  /// Whole numbers from min to max, when max is not 0.
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  /// Null for ignored and refused options.
  ApplyOption apply = nullptr;
  /// The option may stand without its value.
  bool value_optional = false;
  /// Ignoring this option costs the user speed or safety: the log says so in any case.
  bool missed = false;
  /// Of the part of the table it is in; option_table() says so.
  OptionKind kind = OptionKind::ours;

  bool takes_value() const { return !argument.empty(); }
};

/// In the order of the help and the man page.
std::span<const OptionSpec> option_table();

/// Null when there is no such option. Any x-... option is found as "x-*".
const OptionSpec* find_option(std::string_view name);

/// The name that differs least from one that is not known; empty when none is like it.
std::string_view similar_option(std::string_view name);

/// "proto=rdma|rdma6", "fsc[=TAG]", "nosuid".
std::string option_usage(const OptionSpec& spec);

}  // namespace nfsrdma::fuse
