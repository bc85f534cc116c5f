// A control socket as a file: its address, and whether a process listens on it.
#pragma once

#include <sys/un.h>

#include <string>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// Bytes of a path that sockaddr_un takes, the final zero apart.
inline constexpr std::size_t kLongestSocketPath = 107;

/// The address of the socket at `path`. ENAMETOOLONG for what does not fit.
Result<sockaddr_un> socket_address(const std::string& path);

/// A stream socket that does not block.
Result<UniqueFd> make_socket();

/// Whether what lies at `path` is a socket that was left behind: no process listens on it. Sends
/// nothing, and does not wait.
Result<bool> is_deserted(const std::string& path);

}  // namespace nfsrdma::fuse
