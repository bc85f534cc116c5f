#include "client/requests/read.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cache/file/io_lock.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The kernel fills pages with what it reads; a direct read leaves them alone.
void note_cached_read(FileSystem& fs, File& file, PageRange bytes) {
  fs.kernel().revalidation_timer().add(file);
  file.node().view().pages_cached(bytes);
  file.seen->after_drop.add(bytes);
}

}  // namespace

/// Fills `sink` from the file, by as many READs as it takes. A whole answer that came inline is
/// sent to the kernel from where it lies. FUSE takes a short answer for the end of the file, so an
/// error after some bytes is an error. Flushes dirty data of the file first. Waits for in-flight
/// WRITEs that overlap: if the kernel drops their pages meanwhile, an older answer would put stale
/// data back into the page cache.
Task<void> handle::read(FileSystem& fs, Request request, FileRef file, ReadArguments arguments) {
  // The slot the request came in has nothing else to hold any more.
  const Buffer slot = std::move(*arguments.slot);
  const std::uint64_t offset = arguments.offset;
  const std::size_t size = arguments.size;
  std::optional<InFlightSet::One> in_flight;
  if ((arguments.flags & O_DIRECT) == 0) {
    note_cached_read(fs, *file, {offset, offset + size});
    in_flight.emplace(file->seen->reads);
  }
  if (file->shared->dirty()) co_await fs.files().writes().behind().flush(file->shared);
  {
    cache::WriteOrder::Reading reading(file->shared->order, offset, size);
    co_await reading;
  }
  const std::span<std::byte> sink = slot.first(std::min(size, slot.size()));
  const cache::IoCaller by{arguments.lock_owner, request.context().pid};
  const client::StateRef state =
      cache::io_state(*file, cache::lock_for_io(*file, by, cache::io_range(offset, sink.size())));
  std::size_t filled = 0;
  while (filled < sink.size()) {
    const std::size_t want = std::min<std::size_t>(sink.size() - filled, fs.mount().rsize());
    auto part = co_await client::read(fs.mount(), file->caller, file->inode->handle(), state,
                                      offset + filled, sink.subspan(filled, want),
                                      slot.size() - filled - want);
    if (!part) {
      reply_failure(fs, request, part.error());
      co_return;
    }
    const std::size_t count = std::min(part->data.size(), want);
    const bool ended = part->eof || count == 0;
    if (ended) file->node().view().read_end(offset + filled + count);
    if (filled == 0 && (ended || count == sink.size())) {
      request.reply_data(part->data.first(count));
      co_return;
    }
    if (!part->placed && count > 0) std::memcpy(&sink[filled], part->data.data(), count);
    filled += count;
    if (ended) break;
  }
  request.reply_data(sink.first(filled));
}

}  // namespace nfsrdma::fuse
