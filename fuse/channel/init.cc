#include "fuse/channel/init.h"

namespace nfsrdma::fuse {
namespace {

/// Payload goes between slots and the kernel by read(2) and writev(2); nothing passes a pipe.
constexpr unsigned kUnwanted = FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                               FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_EXPORT_SUPPORT |
                               FUSE_CAP_WRITEBACK_CACHE;

constexpr unsigned kWanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS;

void choose(fuse_conn_info& connection, unsigned capability, bool wanted) {
  connection.want &= ~capability;
  if (wanted) connection.want |= capability & connection.capable;
}

}  // namespace

void negotiate(fuse_conn_info& connection, const TransferLimits& limits) {
  connection.want &= ~kUnwanted;
  // Pages of a directory come from the server with attributes in any case. With AUTO the kernel
  // takes them for some pages only, and asks for each of the other entries by itself (find, ls -l).
  choose(connection, FUSE_CAP_READDIRPLUS, limits.readdirplus);
  choose(connection, FUSE_CAP_READDIRPLUS_AUTO, false);
  connection.want |= kWanted & connection.capable;
  choose(connection, FUSE_CAP_POSIX_LOCKS, limits.posix_locks);
  choose(connection, FUSE_CAP_FLOCK_LOCKS, limits.flock_locks);
  if (limits.explicit_invalidation && (connection.capable & FUSE_CAP_EXPLICIT_INVAL_DATA)) {
    connection.want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA);
    connection.want |= FUSE_CAP_EXPLICIT_INVAL_DATA;
  }
  connection.max_read = static_cast<unsigned>(limits.max_read);
  connection.max_write = static_cast<unsigned>(limits.max_write);
  connection.max_readahead = static_cast<unsigned>(kMaxTransfer);
  connection.max_background = kMaxBackground;
  connection.congestion_threshold = kMaxBackground;
}

}  // namespace nfsrdma::fuse
