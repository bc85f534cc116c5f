// Asking daemons.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/ctl/exchange.h"
#include "fuse/ctl/peer.h"
#include "transport/base/result.h"

namespace nfsrdma::ctl {

/// A mount whose daemon answers.
struct Mount {
  std::string socket;
  std::map<std::string, std::string, std::less<>>
      identity;         ///< as in fuse/daemon/control_answers.h
  Peer peer{};          ///< the process that answers: no other is asked
  bool proved = false;  ///< the peer is trusted, or the mount is its user's

  const std::string& get(std::string_view name) const;
  /// Digits: "0" where the daemon has said anything else.
  std::string number(std::string_view name) const;
};

/// What the daemon behind a socket answers, whoever that is. Blocks and fails as ask_all().
Result<std::string> ask(const std::string& socket, std::string_view request,
                        std::size_t longest = kLongestAnswer);

/// What the daemon of a mount answers. `files` go with the request; they stay the caller's. Fails
/// (EPERM) with files for a mount that is not proved to be its user's.
Result<std::string> ask(const Mount& mount, std::string_view request,
                        std::span<const int> files = {});

/// What the daemon of each answers, in their order; all are asked at once.
std::vector<Result<std::string>> ask_each(std::span<const Mount> mounts, std::string_view request);

struct Mounts {
  std::vector<Mount> answer;
  std::vector<Error> silent;   ///< of daemons that do not answer in time
  std::vector<Error> refuted;  ///< of programs that say they serve what is not their user's
};

/// Every mount that this user may ask. Sockets whose process is gone are removed on the way. A
/// mount of another user is there while the mount table says that it is that user's.
Mounts all_mounts();

/// The mount at a mount point, of a process id, or behind the path of a socket. EBUSY when there
/// are several, one under the other.
Result<Mount> find_mount(const std::string& name);

}  // namespace nfsrdma::ctl
