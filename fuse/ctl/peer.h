// Which process answers at a socket, and whether the mount is its user's that it says it is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/base/result.h"

namespace nfsrdma::ctl {

/// The process that listens at a socket, as the kernel has it (SO_PEERCRED).
struct Peer {
  uid_t user = 0;
  pid_t process = 0;        ///< 0: of another namespace of processes
  std::uint64_t begun = 0;  ///< proc(5), starttime; 0 where there is no /proc. Ids are used again

  bool operator==(const Peer&) const = default;
};

/// Of a stream socket that is connected. Errors: as getsockopt(2).
Result<Peer> peer_of(int socket);

/// Whether this user believes whatever that peer says: root's processes, and the user's own.
bool is_trusted(const Peer& peer);

/// The user who mounted the topmost mount on exactly this path, if nfsrdma serves it. The text is
/// that of /proc/self/mountinfo.
std::optional<uid_t> mounter_of(std::string_view mountinfo, std::string_view mount_point);

/// Fails (EPERM) where the peer is not trusted, and the mount or the process that it says it is is
/// not its user's. `process` is as it says it.
Result<void> check_claim(const Peer& peer, std::string_view process, std::string_view mount_point,
                         std::string_view mountinfo);

/// "" where there is no /proc.
std::string mountinfo_text();

}  // namespace nfsrdma::ctl
