#include "cache/read/read_ahead.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "cache/file/io_lock.h"
#include "client/requests/read.h"
#include "client/session/session.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

/// The part of the pool that may have what is read ahead.
constexpr std::size_t kPartOfPool = 4;
/// The part of the session's slots that is left to requests that a program waits for.
constexpr std::uint32_t kPartLeft = 4;
/// A file that was not read for so long gives its memory to one that is being read.
constexpr Duration kMayBeDropped = std::chrono::milliseconds(500);

std::size_t most_pieces(const BufferPool& slots, std::size_t most_bytes) {
  const std::size_t wanted = (most_bytes + slots.slot_size() - 1) / slots.slot_size();
  return std::min(slots.slots() / kPartOfPool, wanted);
}

}  // namespace

ReadAhead::ReadAhead(client::Mount& mount, AttributeCache& attributes, BufferPool& slots,
                     std::size_t most_bytes)
    : mount_(mount),
      attributes_(attributes),
      // With acregmin=0 the kernel drops pages by itself and does not tell: read ahead nothing.
      most_bytes_(attributes.policy().shortest(false) == Duration::zero() ? 0 : most_bytes),
      memory_(mount.reactor(), slots, most_pieces(slots, most_bytes_)),
      slots_(slots),
      fill_(mount.reactor(), [this] { fill_all(); }),
      idle_(mount.reactor(), [this] { on_timer(); }) {
  slots_.set_lender(this);
}

ReadAhead::~ReadAhead() { slots_.set_lender(nullptr); }

void ReadAhead::note(File& file, const client::StateRef& by, std::uint64_t offset,
                     std::size_t size) {
  if (memory_.most() == 0 || size == 0) return;
  const bool expected = file.ahead && file.ahead->find(offset) != nullptr;
  file.pattern.note(offset, size, expected);
  if (file.ahead || file.pattern.next() != ReadPattern::Next::unknown)
    follow(file, by, offset, size);
}

void ReadAhead::follow(File& file, const client::StateRef& by, std::uint64_t offset,
                       std::size_t size) {
  ReadStream& stream = stream_of(file);
  stream.follow(file.pattern, offset, size, by, mount_.reactor().now(), most_bytes_);
  fill_.schedule();
}

/// As the one that was read last.
ReadStream& ReadAhead::stream_of(File& file) {
  if (!file.ahead)
    file.ahead = std::make_unique<ReadStream>(mount_.reactor(), file, memory_.most());
  file.ahead->unlink();
  streams_.push_back(*file.ahead);
  if (!idle_.armed()) idle_.arm(kIdle);
  return *file.ahead;
}

ReadPieceRef ReadAhead::for_open(const Inode& inode, int flags, bool kernel_has_pages) {
  const bool to_read = (flags & O_ACCMODE) == O_RDONLY && (flags & (O_DIRECT | O_TRUNC)) == 0;
  const std::uint64_t size = inode.attributes().value().size;
  const bool small = inode.attributes().known() && size > 0 && size <= kAtOpen;
  const bool room = mount_.rsize() > kAtOpen && memory_.slot_size() > kAtOpen;
  if (!to_read || !small || !room || kernel_has_pages || inode.open()) return {};
  ReadPieceRef piece = memory_.acquire();
  if (!piece) return {};
  piece->offset = 0;
  piece->length = kAtOpen;
  return piece;
}

void ReadAhead::begin_with(File& file, ReadPieceRef first, std::uint64_t change) {
  if (!first || first->state != ReadPiece::State::ready) return;
  const CachedAttributes& known = file.inode->attributes();
  const bool others = file.shared->files.size() > 1 || file.shared->dirty();
  if (others || known.value().change != change) return;
  at_open_.add();
  const client::StateRef by = io_state(file, {});
  stream_of(file).begin_with(std::move(first), by, mount_.reactor().now());
}

ReadPiece* ReadAhead::find(File& file, const client::StateRef& by, std::uint64_t byte) const {
  ReadPiece* piece = file.ahead ? file.ahead->find(byte) : nullptr;
  // Its stateid is `by`'s: note() has dropped pieces that were read in another name.
  if (!piece || (by && by->lost())) return nullptr;
  // A piece must not be older than a cached page that the kernel does not revalidate.
  const Duration age = mount_.reactor().now() - piece->issued;
  const bool fresh = age <= attributes_.policy().shortest(false) ||
                     attributes_.remaining(*file.inode) > Duration::zero() ||
                     attributes_.delegated(*file.inode);
  return fresh ? piece : nullptr;
}

void ReadAhead::used(File& file, ReadPiece& piece, std::size_t bytes) {
  file.ahead->used(piece, bytes);
}

void ReadAhead::waited_for(File& file, const ReadPiece& piece) {
  waits_.add();
  file.ahead->waited_for(piece, mount_.reactor().now());
  fill_.schedule();
}

void ReadAhead::end(File& file) {
  if (!file.ahead) return;
  file.ahead->stop();
  file.ahead->drop_all();
  file.ahead->unlink();
}

void ReadAhead::fill_all() {
  reading_ = 0;
  streams_.for_each([this](ReadStream& stream) { reading_ += stream.empty() ? 0 : 1; });
  streams_.for_each([this](ReadStream& stream) { fill(stream); });
}

/// Reads nothing of a dirty file: it would be stale as soon as the dirty data is sent.
void ReadAhead::fill(ReadStream& stream) {
  const FileRef file(&stream.file());
  if (file->released || !file->open || file->shared->dirty()) return;
  const std::size_t most = std::min<std::size_t>(mount_.rsize(), memory_.slot_size());
  const std::uint64_t file_end = file->inode->attributes().value().size;
  while (auto wanted = stream.next(file->pattern, most, file_end)) {
    if (!may_fetch(stream)) return;
    ReadPieceRef piece = memory_.acquire();
    if (!piece) return;
    piece->offset = wanted->offset;
    piece->length = wanted->length;
    piece->issued = mount_.reactor().now();
    stream.add(piece);
    spawn(fetch(file, std::move(piece)));
  }
}

/// Files that are read at the same time have equal shares of the memory.
bool ReadAhead::may_fetch(const ReadStream& stream) {
  const std::size_t others = reading_ - (stream.empty() || reading_ == 0 ? 0 : 1);
  if (stream.pieces() > 0 && stream.pieces() >= memory_.most() / (others + 1)) return false;
  if (memory_.in_use() >= memory_.most()) drop_idle(kMayBeDropped);
  return mount_.session().has_room(kPartLeft);
}

Task<void> ReadAhead::fetch(FileRef file, ReadPieceRef piece) {
  const InFlightSet::One in_flight(file->ahead->reading());
  const std::span<std::byte> sink = piece->slot.first(piece->length);
  auto got = co_await client::read(mount_, file->caller, file->inode->handle(), piece->by,
                                   piece->offset, sink, piece->slot.size() - sink.size());
  if (got) {
    piece->valid = std::min(got->data.size(), sink.size());
    piece->ended = got->eof || piece->valid == 0;
    if (!got->placed) std::memcpy(sink.data(), got->data.data(), piece->valid);
    // A write that has grown the file since was answered first.
    if (piece->ended && file->inode->size() > piece->offset + piece->valid) {
      file->ahead->forget(*piece);
    }
  } else {
    // No program has asked for these bytes yet. One that does sends a READ of its own.
    log::debug("reading ahead: {}", got.error().message());
    failed_.add();
    file->ahead->stop();
    file->ahead->forget(*piece);
  }
  if (piece->state == ReadPiece::State::in_flight) piece->state = ReadPiece::State::ready;
  file->ahead->window().arrived(mount_.reactor().now() - piece->issued);
  piece->waiting.wake_all();
  fill_.schedule();
}

void ReadAhead::drop_idle(Duration idle) {
  const TimePoint now = mount_.reactor().now();
  streams_.for_each([&](ReadStream& stream) {
    if (stream.last_used() + idle <= now) stream.drop_all();
  });
}

void ReadAhead::on_timer() {
  drop_idle(kIdle);
  streams_.for_each([](ReadStream& stream) {
    if (stream.empty()) stream.unlink();
  });
  if (!streams_.empty()) idle_.arm(kIdle);
}

/// A request or a write needs the slot more.
void ReadAhead::give_back() {
  bool found = false;
  streams_.for_each([&](ReadStream& stream) { found = found || stream.drop_last(); });
}

void ReadAhead::visit_counters(CounterVisitor& visitor) const {
  memory_.visit_counters(visitor);
  visitor.visit("cache_read_ahead_waits", waits_.value());
  visitor.visit("cache_read_ahead_bytes_copied", copied_.value());
  visitor.visit("cache_read_ahead_failures", failed_.value());
  visitor.visit("cache_read_at_open", at_open_.value());
}

}  // namespace nfsrdma::cache
