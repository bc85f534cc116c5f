// RFC 8881 section 18.1.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

struct Right {
  std::uint32_t bits;  ///< of ACCESS4_*
  int mode;            ///< of access(2)
};
using Rights = std::array<Right, 3>;

// To delete is a right over a directory's entries, not over a file.
constexpr Rights kOfDirectory{{{ACCESS4_READ, R_OK},
                               {ACCESS4_LOOKUP, X_OK},
                               {ACCESS4_MODIFY | ACCESS4_EXTEND | ACCESS4_DELETE, W_OK | X_OK}}};
constexpr Rights kOfFile{
    {{ACCESS4_READ, R_OK}, {ACCESS4_MODIFY | ACCESS4_EXTEND, W_OK}, {ACCESS4_EXECUTE, X_OK}}};

bool permitted(int path_fd, int mode) {
  return ::syscall(SYS_faccessat2, path_fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

}  // namespace

nfsstat4 op_access(CompoundContext& context, const ACCESS4args& args, ACCESS4res& result) {
  const auto fd = context.files().path_fd(context.current);
  if (!fd) return fd.error();
  const Rights& rights = context.current->is_directory() ? kOfDirectory : kOfFile;
  const std::uint32_t writing = ACCESS4_MODIFY | ACCESS4_EXTEND | ACCESS4_DELETE;
  const bool read_only = context.server.config.read_only;
  const ActAs act(context.who);
  for (const Right& right : rights) {
    const std::uint32_t asked = args.access & right.bits;
    if (asked == 0) continue;
    result.resok4.supported |= asked;
    if (read_only && (asked & writing) != 0) continue;
    if (permitted(*fd, right.mode)) result.resok4.access |= asked;
  }
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
