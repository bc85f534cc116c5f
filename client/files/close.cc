#include "client/files/close.h"

#include "client/mount.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

Task<Result<void>> close(Mount& mount, OpenRef open) {
  auto released = co_await mount.opens().release(std::move(open));
  co_return released;
}

}  // namespace nfsrdma::client
