// RFC 8881 section 18.22.
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::size_t kLeastRead = 4096;
// Space in the reply for what is not data.
constexpr std::size_t kResultOverhead = 32;

// Memory for the data; less than was asked for when the transport has no larger piece (a short READ
// is allowed).
std::span<std::byte> data_memory(ServerCall& call, std::size_t count) {
  for (;;) {
    const auto memory = call.scratch(count);
    if (memory.size() >= count) return memory.first(count);
    if (count <= kLeastRead) return {};
    count = std::max(count / 2, kLeastRead);
  }
}

// One more byte than wanted tells whether the file ends here, without asking for its size.
nfsstat4 read_at(int fd, std::span<std::byte> memory, off_t offset, READ4resok& ok) {
  std::byte beyond;
  const iovec pieces[] = {{memory.data(), memory.size()}, {&beyond, 1}};
  const ssize_t got = ::preadv(fd, pieces, 2, offset);
  if (got < 0) return status_of_errno(errno);
  const auto length = std::min(static_cast<std::size_t>(got), memory.size());
  ok.eof = static_cast<std::size_t>(got) <= memory.size();
  ok.data.data = memory.first(length);
  return NFS4_OK;
}

}  // namespace

nfsstat4 op_read(CompoundContext& context, const READ4args& args, READ4res& result) {
  const nfsstat4 wrong = not_a_regular_file(*context.current);
  if (wrong != NFS4_OK) return wrong;
  const auto open = open_for_io(context, args.stateid, OPEN4_SHARE_ACCESS_READ);
  if (!open) return open.error();
  const nfsstat4 locked = check_locks(context, *open, args.offset, args.count, /*writes=*/false);
  if (locked != NFS4_OK) return locked;
  UniqueFd transient;
  if (!*open) {
    auto opened = open_without_state(context, OPEN4_SHARE_ACCESS_READ);
    if (!opened) return opened.error();
    transient = std::move(*opened);
  }
  const std::size_t most =
      std::min<std::size_t>(context.server.config.max_transfer, context.server.faults.most_read);
  const std::size_t count = std::min<std::size_t>(args.count, most);
  if (context.room() < count + kResultOverhead) {
    return context.cache_this ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
  }
  constexpr auto kMaxOffset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (args.offset >= kMaxOffset - count) {
    result.resok4.eof = true;
    return NFS4_OK;
  }
  const auto memory = data_memory(context.call, count);
  if (memory.empty() && count != 0) return NFS4ERR_DELAY;
  const int fd = *open ? (*open)->fd() : transient.get();
  return read_at(fd, memory, static_cast<off_t>(args.offset), result.resok4);
}

}  // namespace nfsrdma::responder
