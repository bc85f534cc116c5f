#include "tests/responder/nfs/state/open_file.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "client/proto/ops_open.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

int flags_of(std::uint32_t access) {
  if (access == OPEN4_SHARE_ACCESS_BOTH) return O_RDWR;
  return access == OPEN4_SHARE_ACCESS_WRITE ? O_WRONLY : O_RDONLY;
}

// A program is run by reading it, also by those who may only execute it.
bool may_execute(FileTable& files, const OpenRequest& request) {
  const auto fd = files.path_fd(request.file);
  if (!fd) return false;
  const ActAs act(request.who);
  return ::syscall(SYS_faccessat2, *fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

bool is_owner(FileTable& files, const OpenRequest& request) {
  const auto stat = files.stat(request.file);
  return stat && stat->x.stx_uid == request.who.uid;
}

Outcome<UniqueFd> open_descriptor(FileTable& files, const OpenRequest& request,
                                  std::uint32_t access) {
  const int truncate = request.truncate ? O_TRUNC : 0;
  auto fd = files.reopen(request.who, request.file, flags_of(access) | truncate);
  if (fd || fd.error() != NFS4ERR_ACCESS) return fd;
  const bool excused =
      (access == OPEN4_SHARE_ACCESS_READ && !request.truncate && may_execute(files, request)) ||
      (request.owner_may_override && is_owner(files, request));
  if (!excused) return fd;
  return files.reopen_unchecked(request.file, flags_of(access) | truncate);
}

// Adds to an open: the union of both shares, with a descriptor that can do it.
Outcome<OpenState*> upgrade(FileTable& files, const OpenRequest& request, OpenState& open) {
  const std::uint32_t access = open.share.access | request.share.access;
  if (request.truncate || (request.share.access & ~open.share.access) != 0) {
    auto fd = open_descriptor(files, request, access);
    if (!fd) return refuse(fd.error());
    open.descriptor = std::move(*fd);
    open.descriptor_access = access;
  }
  open.share.access = access;
  open.share.deny |= request.share.deny;
  ++open.seqid;
  return &open;
}

void remember_share(OpenState& open, const Share& share) {
  const bool known = std::ranges::any_of(open.opened, [&](const Share& earlier) {
    return earlier.access == share.access && earlier.deny == share.deny;
  });
  if (!known) open.opened.push_back(share);
}

}  // namespace

Outcome<OpenState*> grant_open(StateTable& states, FileTable& files, const OpenRequest& request,
                               UniqueFd made) {
  OpenState* own = states.open_of(request.client, request.owner, *request.file);
  if (states.conflicting_open(*request.file, request.share, own)) {
    return refuse(NFS4ERR_SHARE_DENIED);
  }
  if (own) {
    const auto upgraded = upgrade(files, request, *own);
    if (upgraded) remember_share(*own, request.share);
    return upgraded;
  }
  // Keeps the inode within reach even when its last name goes.
  const auto path = files.path_fd(request.file);
  if (!path) return refuse(path.error());
  if (!made) {
    auto fd = open_descriptor(files, request, request.share.access);
    if (!fd) return refuse(fd.error());
    made = std::move(*fd);
  }
  OpenState& open = states.add_open(request.client, request.file, request.owner);
  open.share = request.share;
  open.descriptor = std::move(made);
  open.descriptor_access = request.share.access;
  remember_share(open, request.share);
  return &open;
}

}  // namespace nfsrdma::responder
