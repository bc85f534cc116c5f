// What a subcommand of nfsrdma-lab is.
#pragma once

#include <span>
#include <string_view>

namespace nfsrdma::lab {

/// Exit statuses that all subcommands share; each says in the man page what else it ends with.
inline constexpr int kExitFound = 1;         ///< what was asked for does not hold
inline constexpr int kExitUsage = 2;         ///< the command line, or a file given there, is wrong
inline constexpr int kExitFailed = 3;        ///< no answer can be given: no connection, no file
inline constexpr int kExitInapplicable = 4;  ///< it needs what this transport does not have

/// One word of the command line, and what it does.
struct Subcommand {
  std::string_view name;
  std::string_view arguments;  ///< as the help shows them
  std::string_view doc;        ///< one line
  /// Runs with the words behind the name; returns the exit status.
  int (*run)(std::span<char*> words);
};

}  // namespace nfsrdma::lab
