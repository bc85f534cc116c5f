// Reading ahead: which bytes, how many, and when their memory goes back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/data/read_piece.h"
#include "cache/file/attribute_cache.h"
#include "cache/file/file.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// One for each mount; belongs to its shard. What is read ahead of a file counts for as much as a
/// page that the kernel has cached: what would make that out of date drops it
/// (OpenInode::drop_read_ahead).
class ReadAhead final : private BufferLender {
 public:
  /// A file that is not read for so long has nothing read ahead any more.
  static constexpr Duration kIdle = std::chrono::seconds(2);
  /// Bytes of the largest file that its OPEN reads: what comes with a reply and is copied costs
  /// less than a round trip.
  static constexpr std::size_t kAtOpen = std::size_t{16} << 10;

  /// At most `most_bytes` for each file, 0: none, and a quarter of the pool's slots for all. The
  /// references outlive this.
  ReadAhead(client::Mount& mount, AttributeCache& attributes, BufferPool& slots,
            std::size_t most_bytes);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  client::Mount& mount() { return mount_; }

  /// A program reads these bytes through the page cache, in the name of `by`. What follows from it
  /// is sent after this event, behind the program's own READ.
  void note(File& file, const client::StateRef& by, std::uint64_t offset, std::size_t size);
  /// A piece with this byte that may be used, or waited for, in the name of `by`; null: none.
  ReadPiece* find(File& file, const client::StateRef& by, std::uint64_t byte) const;
  /// What the OPEN of a file may read with it, to be given to open(): a small file's bytes, when a
  /// program opens it to read it and neither it nor the kernel has any (`kernel_has_pages`).
  /// Otherwise null.
  ReadPieceRef for_open(const Inode& inode, int flags, bool kernel_has_pages);
  /// The file has been opened. Forgets what was read with it where that may be stale: the file has
  /// changed meanwhile, or another program has it open here and may write it.
  void begin_with(File& file, ReadPieceRef first, std::uint64_t change);

  /// The program has had these bytes of a piece that was found.
  void used(File& file, ReadPiece& piece, std::size_t bytes);
  /// It has waited for the piece, which has arrived or was dropped.
  void waited_for(File& file, const ReadPiece& piece);
  void count_copied(std::size_t bytes) { copied_.add(bytes); }

  /// The file is being closed: nothing is read ahead of it any more. Its READs in flight are
  /// ReadStream::reading().
  static void end(File& file);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  void give_back() override;
  void follow(File& file, const client::StateRef& by, std::uint64_t offset, std::size_t size);
  ReadStream& stream_of(File& file);
  void fill_all();
  void fill(ReadStream& stream);
  bool may_fetch(const ReadStream& stream);
  Task<void> fetch(FileRef file, ReadPieceRef piece);
  void drop_idle(Duration idle);
  void on_timer();

  client::Mount& mount_;
  AttributeCache& attributes_;
  const std::size_t most_bytes_;
  ReadPieceMemory memory_;
  BufferPool& slots_;
  IntrusiveList<ReadStream> streams_;  ///< read least recently first
  std::size_t reading_ = 0;            ///< of these, how many have pieces, at the last fill
  Deferred fill_;
  Timer idle_;
  Counter waits_;
  Counter copied_;
  Counter failed_;
  Counter at_open_;
};

}  // namespace nfsrdma::cache
