// What systemd is told of a mount in the foreground (sd_notify(3)); without $NOTIFY_SOCKET nothing
// is.
#pragma once

#include <string>

namespace nfsrdma::fuse {

/// The mount is live: a unit with Type=notify is started now, and what needs it may go on.
void notify_ready(const std::string& source, const std::string& mount_point);
/// The end has begun: data is saved and state given back, which may take seconds.
void notify_stopping();

}  // namespace nfsrdma::fuse
