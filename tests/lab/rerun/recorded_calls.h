// A server made of the answers of a recording: for runs that leave requests out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/lab/rerun/recording.h"

namespace nfsrdma::lab::rerun {

/// Connection and number of a call.
using CallPlace = std::pair<std::uint32_t, std::uint32_t>;

/// Of the body of Kind::call or Kind::call_done.
CallPlace place_of_call(std::span<const std::byte> body);

/// A call without what belongs to session and connection.
struct CallContent {
  std::uint64_t key = 0;   ///< of caller, operations and data
  std::string words;       ///< the same for people
  bool sequenced = false;  ///< it begins with SEQUENCE
  std::uint32_t xid = 0;
  std::uint32_t uid = 0;
  std::span<const std::byte> sequence;  ///< its arguments, encoded
  std::uint32_t operation = 0;          ///< the first one, or that behind SEQUENCE
  bool empty = false;                   ///< SEQUENCE alone
};

/// Takes the body of Kind::call apart; nothing where it is no COMPOUND. `whole`: its words have
/// SEQUENCE, too.
std::optional<CallContent> read_call(std::span<const std::byte> body, bool whole = false);

class RecordedCalls {
 public:
  /// `recording` outlives it.
  explicit RecordedCalls(const Recording& recording);

  /// How a call ends.
  struct End {
    std::vector<std::byte> done;  ///< the body of Kind::call_done
    std::size_t call = 0;         ///< entries of the recording, of the call and of its end
    std::size_t end = 0;
  };

  /// For a call with this body: what the recording has for the same call, at this entry or behind
  /// it, or else the last before it; an error of the server, with no entries, where it has none.
  End answer(std::span<const std::byte> call_body, std::size_t entry) const;
  bool has(std::uint64_t key) const { return known_.contains(key); }

 private:
  struct Known {
    std::size_t entry = 0;  ///< of the call
    std::size_t end = 0;
    std::span<const std::byte> done;
  };

  std::unordered_map<std::uint64_t, std::vector<Known>> known_;
};

}  // namespace nfsrdma::lab::rerun
