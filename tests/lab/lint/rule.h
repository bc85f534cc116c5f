// A rule as data: where it stands, what it says, and how to see that it is broken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nfsrdma::lab {

/// What an event of one kind is judged by. `check` returns what was seen when the rule is broken.
template <class Event>
struct Rule {
  std::string_view where;  ///< "RFC 8166 section 3.3.1"
  std::string_view text;   ///< what it asks for
  /// Needs all that came before on the connection: not judged where the capture has holes.
  bool needs_history = false;
  std::optional<std::string> (*check)(const Event& event) = nullptr;
};

/// The same without the kind of event, for programs that only show it.
struct RuleName {
  std::string_view where;
  std::string_view text;
};

}  // namespace nfsrdma::lab
