// Requests to many sockets at once, whose peers may be hostile, too busy or gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuse/ctl/peer.h"
#include "transport/base/result.h"

namespace nfsrdma::ctl {

/// For all answers together.
inline constexpr std::chrono::seconds kPatience{5};

/// Bytes of an answer: the peer may be another user's program, and hostile.
inline constexpr std::size_t kLongestAnswer = 16 * 1024 * 1024;

/// A request to one socket.
struct Question {
  std::string socket;
  std::string request;
  std::span<const int> files{};  ///< go with the request; they stay the caller's
  std::size_t longest = kLongestAnswer;
  std::optional<Peer> only{};  ///< fails (EPERM) where another process listens by now
};

/// What the daemon at that socket says.
struct Answer {
  Result<std::string> text;
  Peer peer{};  ///< who it was; of one that was connected to
};

/// Asks all of them at once, and answers in their order. Blocks for kPatience at most. Errors: no
/// process listens (ECONNREFUSED), no answer in time (ETIMEDOUT), too many ask at once (EBUSY),
/// more than `longest` bytes (EMSGSIZE), or what the daemon says itself.
std::vector<Answer> ask_all(std::span<const Question> questions);

}  // namespace nfsrdma::ctl
