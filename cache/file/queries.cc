#include "cache/file/queries.h"

#include <unistd.h>

#include "client/proto/ops_attr.h"
#include "client/requests/access.h"
#include "client/requests/getattr.h"
#include "client/requests/readlink.h"

namespace nfsrdma::cache {

std::uint32_t access4_bits(int mask, bool directory) {
  using namespace nfs4;
  std::uint32_t bits = 0;
  if (mask & R_OK) bits |= ACCESS4_READ;
  if (mask & W_OK) {
    bits |= ACCESS4_MODIFY | ACCESS4_EXTEND;
    if (directory) bits |= ACCESS4_DELETE;
  }
  if (mask & X_OK) bits |= directory ? ACCESS4_LOOKUP : ACCESS4_EXECUTE;
  return bits;
}

Task<Result<bool>> access(client::Mount& mount, client::Credential caller, InodeRef inode,
                          int mask) {
  const std::uint32_t asked = access4_bits(mask, inode->is_directory());
  auto granted = co_await client::access(mount, caller, inode->handle(), asked);
  CO_TRY(granted);
  co_return (*granted & asked) == asked;
}

Task<Result<std::string>> readlink(client::Mount& mount, client::Credential caller,
                                   InodeRef inode) {
  auto target = co_await client::readlink(mount, caller, inode->handle());
  co_return target;
}

Task<Result<client::Attributes>> statfs(client::Mount& mount, client::Credential caller,
                                        InodeRef inode) {
  auto status = co_await client::statfs(mount, caller, inode->handle());
  co_return status;
}

}  // namespace nfsrdma::cache
