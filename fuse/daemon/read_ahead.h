// How far ahead the kernel reads.
#pragma once

#include <cstddef>
#include <string>

namespace nfsrdma::fuse {

/// Lets the kernel read `bytes` ahead on the mount with this device number ("0:45"). Its own limit
/// of 128 KiB costs a round trip for each; only root may raise it, so for others nothing happens.
void raise_read_ahead(const std::string& device, std::size_t bytes);

}  // namespace nfsrdma::fuse
