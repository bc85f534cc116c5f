// The text of --version: names the build, for problem reports.
#pragma once

#include <string>

namespace nfsrdma::fuse {

/// Lines: name, version and commit; the providers that carry RDMA; the libraries with the versions
/// that are in use.
std::string version_text();

}  // namespace nfsrdma::fuse
