// The one-letter options, for the command and for the helper of mount(8).
#pragma once

#include <span>
#include <string_view>

#include "fuse/options/command_line.h"

namespace nfsrdma::fuse {

struct Letter {
  char letter;
  std::string_view word = {};      ///< the long form, or empty
  std::string_view argument = {};  ///< the name of the value, or empty
  std::string_view doc = {};
  std::string_view item = {};  ///< the -o option it stands for, or empty
  Action action = Action::mount;
  void (*apply)(ProgramOptions& program, const std::string& value) = nullptr;
};

std::span<const Letter> command_letter_table();
std::span<const Letter> helper_letters();

/// By Boost's key: the word, or "-l" for a letter without one. Null when there is none.
const Letter* find_letter(std::span<const Letter> letters, std::string_view key);

}  // namespace nfsrdma::fuse
