// A script as text that parts can be left out of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::lab::shrink {

/// A statement, an operation of a COMPOUND, or the whole script.
struct Part {
  std::string before;       ///< its text, up to the parts in it
  std::vector<Part> parts;  ///< statements of a block, or operations
  std::string after;        ///< its text behind them
  bool statements = false;  ///< its parts are statements
};

/// Deeper blocks are one statement.
inline constexpr std::size_t kDeepest = 8;

/// Comments on lines of their own are left out; all other text is kept. Any text is taken: what is
/// no script is parts that make no sense, and nothing else.
Part read_parts(std::string_view text);

/// The text again.
std::string to_text(const Part& script);

/// Parts that can be left out, those in others included.
std::size_t count_statements(const Part& part);
std::size_t count_operations(const Part& part);

}  // namespace nfsrdma::lab::shrink
