// RFC 8881 section 18.24.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_readlink(CompoundContext& context, const READLINK4args&, READLINK4res& result) {
  if (context.current->format() != S_IFLNK) {
    return context.current->is_directory() ? NFS4ERR_ISDIR : NFS4ERR_WRONG_TYPE;
  }
  const auto fd = context.files().path_fd(context.current);
  if (!fd) return fd.error();
  const auto memory = context.call.scratch(PATH_MAX);
  if (memory.empty()) return NFS4ERR_DELAY;
  const ssize_t length =
      ::readlinkat(*fd, "", reinterpret_cast<char*>(memory.data()), memory.size());
  if (length < 0) return status_of_errno(errno);
  result.resok4.link.data = memory.first(static_cast<std::size_t>(length));
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
