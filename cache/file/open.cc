#include "cache/file/open.h"

#include <fcntl.h>

#include "client/files/open.h"

namespace nfsrdma::cache {

std::uint32_t share_access(int flags) {
  switch (flags & O_ACCMODE) {
    case O_WRONLY: return nfs4::OPEN4_SHARE_ACCESS_WRITE;
    case O_RDWR: return nfs4::OPEN4_SHARE_ACCESS_BOTH;
    default: return nfs4::OPEN4_SHARE_ACCESS_READ;
  }
}

Task<Result<Opened>> open(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                          int flags) {
  const Issue issue = attributes.issue();
  const auto delegating =
      (flags & O_DIRECT) ? client::Delegating::unwanted : client::Delegating::wanted;
  auto opened = co_await client::open(attributes.mount(), caller, inode->handle(),
                                      share_access(flags), delegating);
  CO_TRY(opened);
  attributes.learn(*inode, opened->attributes, issue, ChangedBy::anyone);
  co_return Opened{std::move(inode), std::move(opened->open), opened->preserve_unlinked};
}

std::optional<Opened> open_locally(AttributeCache& attributes, const client::Credential& caller,
                                   const InodeRef& inode, int flags) {
  if (!inode->attributes().stands()) return std::nullopt;
  auto opened =
      client::open_locally(attributes.mount(), caller, inode->handle(), share_access(flags));
  if (!opened) return std::nullopt;
  return Opened{inode, std::move(opened->open), opened->preserve_unlinked};
}

}  // namespace nfsrdma::cache
