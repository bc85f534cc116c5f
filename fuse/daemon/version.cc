#include "fuse/daemon/version.h"

#include <fmt/format.h>
#include <spdlog/version.h>
#include <boost/version.hpp>

#include "commit.h"
#include "fuse/channel/kernel_session.h"

namespace nfsrdma::fuse {
namespace {

/// 100 * (100 * major + minor) + patch, the usual form.
std::string dotted(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// Boost has three digits for the minor version: 107400 is 1.74.0.
std::string boost_version() {
  return fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                     BOOST_VERSION % 100);
}

}  // namespace

std::string version_text() {
  return fmt::format(
      "nfsrdma {}{}\n"
      "NFSv4.1 over RPC-over-RDMA 1 and 2 (providers: iwarp, verbs) and TCP\n"
      "libfuse {}, spdlog {}, fmt {}, Boost {}\n",
      NFSRDMA_VERSION, kCommit[0] ? fmt::format(" ({})", kCommit) : "", library_version(),
      dotted(SPDLOG_VERSION), dotted(FMT_VERSION), boost_version());
}

}  // namespace nfsrdma::fuse
