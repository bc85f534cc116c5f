// Asking daemons.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::ctl {

/// For connecting and for an answer, each.
inline constexpr std::chrono::seconds kPatience{5};

/// Bytes of an answer: the peer may be another user's program, and hostile.
inline constexpr std::size_t kLongestAnswer = 16 * 1024 * 1024;

/// What the daemon behind a socket answers. Blocks for three times kPatience at most. Errors: no
/// daemon listens (ECONNREFUSED), too many ask at once, more than `longest` bytes (EMSGSIZE), or
/// what the daemon says itself. `files` go with the request; they stay the caller's.
Result<std::string> ask(const std::string& socket, std::string_view request,
                        std::span<const int> files = {}, std::size_t longest = kLongestAnswer);

/// A mount whose daemon answers.
struct Mount {
  std::string socket;
  std::map<std::string, std::string, std::less<>>
      identity;  ///< as in fuse/daemon/control_answers.h

  const std::string& get(std::string_view name) const;
  /// Digits: "0" where the daemon has said anything else.
  std::string number(std::string_view name) const;
};

struct Mounts {
  std::vector<Mount> answer;
  std::vector<Error> silent;  ///< of daemons that do not answer in time
};

/// Every mount that this user may ask. Sockets whose process is gone are removed on the way.
Mounts all_mounts();

/// The mount at a mount point, of a process id, or behind the path of a socket. EBUSY when there
/// are several, one under the other.
Result<Mount> find_mount(const std::string& name);

}  // namespace nfsrdma::ctl
