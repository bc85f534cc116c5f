#include "cache/read/read.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "cache/write/commit.h"
#include "client/requests/read.h"

namespace nfsrdma::cache {
namespace {

/// The bytes of a request that a piece has, from `offset` on.
std::span<const std::byte> part_of(const ReadPiece& piece, std::uint64_t offset, std::size_t size) {
  const std::uint64_t skipped = std::min<std::uint64_t>(offset - piece.offset, piece.valid);
  const auto data = std::span<const std::byte>(piece.slot.bytes()).subspan(skipped);
  return data.first(std::min(size, piece.valid - static_cast<std::size_t>(skipped)));
}

/// Returns when the piece has arrived or was dropped. False: it was dropped.
Task<bool> arrived(ReadAhead& ahead, FileRef file, ReadPieceRef piece) {
  if (piece->state == ReadPiece::State::ready) co_return true;
  while (piece->state == ReadPiece::State::in_flight) co_await piece->waiting.wait();
  if (piece->state != ReadPiece::State::ready) co_return false;
  ahead.waited_for(*file, *piece);
  co_return true;
}

/// Answers from pieces that were read ahead; empty: not all bytes are there. A request that spans
/// several pieces is copied together into its own slot.
Task<std::optional<BytesRead>> read_pieces(ReadAhead& ahead, FileRef file, client::StateRef by,
                                           ReadArgs& args) {
  const std::size_t size = std::min(args.size, args.slot.size());
  const std::uint64_t drops = file->ahead->drops();
  std::size_t filled = 0;
  while (filled < size) {
    const std::uint64_t offset = args.offset + filled;
    const ReadPieceRef piece(ahead.find(*file, by, offset));
    if (!piece) co_return std::nullopt;
    const bool usable = co_await arrived(ahead, file, piece);
    if (!usable || (filled > 0 && drops != file->ahead->drops())) co_return std::nullopt;
    const auto part = part_of(*piece, offset, size - filled);
    const bool last = piece->ended || filled + part.size() == size;
    if (!last && offset + part.size() < piece->end()) co_return std::nullopt;  // it came short
    ahead.used(*file, *piece, part.size());
    const bool ended = piece->ended && offset + part.size() >= piece->offset + piece->valid;
    if (filled == 0 && last) co_return BytesRead{part, ended, {}, {}, piece};
    std::memcpy(args.slot.data() + filled, part.data(), part.size());
    ahead.count_copied(part.size());
    filled += part.size();
    if (last) {
      const auto whole = args.slot.first(filled);
      co_return BytesRead{whole, ended, std::move(args.slot), {}, {}};
    }
  }
  co_return std::nullopt;
}

Task<Result<BytesRead>> read_from_server(ReadAhead& ahead, FileRef file, client::StateRef by,
                                         std::uint64_t offset, std::size_t size, Buffer slot) {
  BytesRead read;
  read.slot = std::move(slot);
  const std::span<std::byte> sink = read.slot.first(std::min(size, read.slot.size()));
  std::size_t filled = 0;
  while (filled < sink.size() && !read.ended) {
    const std::size_t want = std::min<std::size_t>(sink.size() - filled, ahead.mount().rsize());
    auto part = co_await client::read(ahead.mount(), file->caller, file->inode->handle(), by,
                                      offset + filled, sink.subspan(filled, want),
                                      read.slot.size() - filled - want);
    CO_TRY(part);
    const std::size_t count = std::min(part->data.size(), want);
    read.ended = part->eof || count == 0;
    if (filled == 0 && (read.ended || count == sink.size())) {
      // Also one that came inline is given from where it lies.
      read.data = part->data.first(count);
      read.reply = std::move(part->reply);
      co_return read;
    }
    if (!part->placed && count > 0) std::memcpy(&sink[filled], part->data.data(), count);
    filled += count;
  }
  read.data = sink.first(filled);
  co_return read;
}

}  // namespace

Task<Result<BytesRead>> read(ReadAhead& ahead, WriteBack& writes, FileRef file, ReadArgs args) {
  if (file->shared->dirty()) co_await writes.behind().flush(file->shared);
  if (file->shared->may_be_lost()) co_await restore_lost(writes, file->shared);
  {
    WriteOrder::Reading reading(file->shared->order, args.offset, args.size);
    co_await reading;
  }
  const std::size_t size = std::min(args.size, args.slot.size());
  client::StateRef by = io_state(*file, lock_for_io(*file, args.by, io_range(args.offset, size)));
  if (args.through_pages) {
    ahead.note(*file, by, args.offset, size);
    if (ahead.find(*file, by, args.offset)) {
      auto found = co_await read_pieces(ahead, file, by, args);
      if (found) co_return std::move(*found);
    }
  }
  // A server that restarts may read before it gets back what it has lost.
  for (;;) {
    if (file->shared->may_be_lost()) co_await restore_lost(writes, file->shared);
    const std::uint64_t times_forgotten = writes.memory().times_forgotten();
    auto read =
        co_await read_from_server(ahead, file, by, args.offset, args.size, std::move(args.slot));
    if (!read || writes.memory().times_forgotten() == times_forgotten) co_return read;
    args.slot = std::move(read->slot);
  }
}

}  // namespace nfsrdma::cache
