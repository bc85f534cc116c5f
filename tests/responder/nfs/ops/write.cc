// RFC 8881 section 18.32.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

nfsstat4 make_stable(int fd, stable_how4 stable) {
  const int done = stable == FILE_SYNC4 ? ::fsync(fd) : ::fdatasync(fd);
  return done == 0 ? NFS4_OK : status_of_errno(errno);
}

}  // namespace

nfsstat4 op_write(CompoundContext& context, const WRITE4args& args, WRITE4res& result) {
  const nfsstat4 wrong = not_a_regular_file(*context.current);
  if (wrong != NFS4_OK) return wrong;
  const auto open = open_for_io(context, args.stateid, OPEN4_SHARE_ACCESS_WRITE);
  if (!open) return open.error();
  const nfsstat4 locked =
      check_locks(context, *open, args.offset, args.data.data.size(), /*writes=*/true);
  if (locked != NFS4_OK) return locked;
  UniqueFd transient;
  if (!*open) {
    auto opened = open_without_state(context, OPEN4_SHARE_ACCESS_WRITE);
    if (!opened) return opened.error();
    transient = std::move(*opened);
  }
  const auto data =
      args.data.data.first(std::min(args.data.data.size(), context.server.faults.most_written));
  constexpr auto kMaxOffset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (args.offset > kMaxOffset - data.size()) return NFS4ERR_FBIG;
  const int fd = *open ? (*open)->fd() : transient.get();
  std::optional<ActAs> act;
  if (context.current->has_set_id_bits) act.emplace(context.who);
  const bool may_be_lost = context.call.service_faults().unstable_lost && args.stable == UNSTABLE4;
  if (may_be_lost) {
    context.server.unstable.remember(context.files(), context.current, args.offset, data.size());
  }
  const ssize_t written = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(args.offset));
  if (written < 0) return status_of_errno(errno);
  context.changed(context.current);
  if (args.stable != UNSTABLE4 && context.server.config.durable) {
    const nfsstat4 status = make_stable(fd, args.stable);
    if (status != NFS4_OK) return status;
  }
  if (args.stable != UNSTABLE4) context.server.unstable.committed(*context.current);
  const stable_how4 committed = context.server.faults.never_stable ? UNSTABLE4 : args.stable;
  result.resok4 = {static_cast<count4>(written), committed, context.server.instance.write_verifier};
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
