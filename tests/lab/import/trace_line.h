// A line of trace-cmd report, or of ftrace's file "trace", and the words of its event.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nfsrdma::lab::import {

/// Views of the line.
struct TraceLine {
  std::string_view event;  ///< "xprtrdma_marshal"
  std::string_view text;   ///< what stands behind it
};

/// Nothing for a line that is no event. Kernels and tools differ in what stands before the time.
std::optional<TraceLine> read_line(std::string_view line);

/// What stands behind "NAME=", up to a blank; nothing where there is no such word.
std::optional<std::string_view> field(std::string_view text, std::string_view name);
/// The same up to the end of the text, for names of files, which may have blanks.
std::optional<std::string_view> rest_of_field(std::string_view text, std::string_view name);
/// The number at its start, decimal or 0x.
std::optional<std::uint64_t> number(std::string_view word);
std::optional<std::uint64_t> number_field(std::string_view text, std::string_view name);
/// The next word of the text, which is taken off it; empty at its end.
std::string_view next_word(std::string_view& text);

}  // namespace nfsrdma::lab::import
