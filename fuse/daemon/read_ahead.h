// How far ahead the kernel reads.
#pragma once

#include <cstddef>
#include <string>

namespace nfsrdma::fs {

/// Lets the kernel read `octets` ahead on the mount with this device number ("0:45"). Its own limit
/// of 128 KiB costs a round trip for each; only root may raise it, so for others nothing happens.
void raise_read_ahead(const std::string& device, std::size_t octets);

}  // namespace nfsrdma::fs
