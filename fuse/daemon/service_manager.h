// Notifies systemd of the state of a mount in the foreground (sd_notify(3)). Does nothing without
// $NOTIFY_SOCKET.
#pragma once

#include <string>

namespace nfsrdma::fuse {

/// The mount is live: a unit with Type=notify counts as started, and units that need it start.
void notify_ready(const std::string& source, const std::string& mount_point);
/// The end has begun: data is saved and state given back, which may take seconds.
void notify_stopping();

}  // namespace nfsrdma::fuse
