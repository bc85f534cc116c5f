#include "cache/read/read.h"

#include <optional>

#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The kernel fills pages with the bytes of a cached read; a direct read leaves them alone.
void note_cached_read(FileSystem& fs, File& file, PageRange bytes) {
  file.node().view().pages_cached(bytes);
  fs.kernel().revalidation_timer().add(file);
  file.seen->after_drop.add(bytes);
}

/// The kernel names the owner of locks for read(2) past its pages only. A page of a mapping is
/// asked for with the flags of the open file, O_DIRECT among them.
bool is_direct(const fuse_read_in& read) { return (read.read_flags & FUSE_READ_LOCKOWNER) != 0; }

}  // namespace

Task<void> handle::read(FileSystem& fs, Request request, FileRef file, ReadArguments arguments) {
  const std::uint64_t offset = arguments.offset;
  cache::ReadArgs args;
  args.by = {arguments.lock_owner, request.context().pid};
  args.offset = offset;
  args.size = arguments.size;
  // The slot the request came in has nothing else to hold any more.
  args.slot = std::move(*arguments.slot);
  args.through_pages = !is_direct(arguments);
  std::optional<InFlightSet::One> in_flight;
  if (args.through_pages) {
    note_cached_read(fs, *file, {offset, offset + args.size});
    in_flight.emplace(file->seen->reads);
  }
  auto read = co_await cache::read(fs.files().reads(), fs.files().writes(), file, std::move(args));
  if (!read) {
    reply_failure(fs, request, read.error());
    co_return;
  }
  if (read->ended) file->node().view().read_end(offset + read->data.size());
  file->node().view().asks_again();
  request.reply_data(read->data);
}

}  // namespace nfsrdma::fuse
