// Write-behind: writes are answered before they are sent, and small ones are sent together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cache/data/gather_memory.h"
#include "cache/data/one_write_files.h"
#include "cache/data/write_order.h"
#include "cache/file/file.h"
#include "client/proto/ops_data.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/in_flight_set.h"
#include "transport/base/task.h"

namespace nfsrdma::cache {

class WriteBack;

/// What one write(2) writes.
struct FileWrite {
  client::FileLocks::LockRef lock{};  ///< that it is written under; null: none
  std::uint64_t offset = 0;
  std::span<const std::byte> data;
  WriteOrder::Place place = WriteOrder::Place::anywhere;
};

/// One for each mount; belongs to its shard. Writes are answered before they are sent. Small ones
/// are gathered; a file's gathered bytes are sent when the run is full, when a write is not
/// adjacent, after `kLongest`, by operations that need them at the server, and behind the answer
/// where a flush is likely to be next. Large ones are sent at once. A failure is recorded in the
/// file's errors, and later writes of the file wait for the server until one has succeeded; so do
/// those of all files where the server has no room.
///
/// A file may have as many slots in flight as are free for all files: one file gets half of the
/// memory, two get a third each, so a new file always finds some.
class WriteBehind {
 public:
  /// No byte waits longer than this to be sent.
  static constexpr Duration kLongest = std::chrono::seconds(1);

  /// `writes` and the pool outlive this. At most `most_slots` of the pool's slots have data that is
  /// gathered, in flight or not committed.
  WriteBehind(WriteBack& writes, Reactor& reactor, BufferPool& slots, std::size_t most_slots);
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// Takes the bytes of a small write. False: the caller must send them, because there is no
  /// memory, too much is in flight, an earlier write failed, or the server has no room
  /// (cache/write/full_file_systems.h).
  bool take(const FileRef& file, const FileWrite& write);
  /// Whether the bytes have room in what the file has gathered: `take` cannot fail.
  bool joins(const FileRef& file, const FileWrite& write) const;
  /// As take(), for a large write: its bytes stay in their `slot`, which is empty afterwards.
  bool take_over(const FileRef& file, const FileWrite& write, Buffer& slot);
  /// Returns true when a write that was not taken may be now. False: nothing of the file is under
  /// way that could make room for it, and the caller sends it.
  Task<bool> room(std::shared_ptr<OpenInode> open);

  /// A write of the file is not taken, but sent by its caller.
  void count_write(OpenInode& open);
  /// Behind the answer to a write that was taken. Where files get one write each, its bytes are
  /// sent at once, to be durable: they are on their way then while the caller comes to close(2),
  /// which waits for them. Not called for writes that waited before their answer: what they waited
  /// for took longer.
  void after_answer(OpenInode& open);

  /// Starts sending a file's gathered bytes.
  void send(OpenInode& open, nfs4::stable_how4 stable = nfs4::UNSTABLE4);
  /// Returns when all that was gathered of a file before the call is at the server, or has failed.
  Task<void> flush(std::shared_ptr<OpenInode> open);
  /// The same; what is gathered is durable then if no other data of the file needs a COMMIT.
  Task<void> flush_durably(std::shared_ptr<OpenInode> open);
  /// flush() for all files.
  Task<void> flush_all();

  /// Slots with bytes that are gathered or in flight.
  std::size_t slots_used() const { return memory_.slots(); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> send_taken(FileRef file, client::FileLocks::LockRef lock, GatheredWrite::Taken taken,
                        nfs4::stable_how4 stable, WriteOrder::Place place);
  void gather(const FileRef& file, const FileWrite& write);
  static bool belongs(const FileRef& file, const client::FileLocks::LockRef& lock);
  bool small(std::span<const std::byte> data) const;
  bool open_for(const File& file) const;
  std::size_t slots_uncommitted() const;
  bool may_have_another(const OpenInode& open) const;
  GatherSlot slot_for(const OpenInode& open);
  void note(const FileRef& file, const FileWrite& write);
  void send_due();

  WriteBack& writes_;
  Reactor& reactor_;
  GatherMemory memory_;
  IntrusiveList<Gathering> gathering_;  ///< longest first
  InFlightSet sending_;
  Timer due_;
  OneWriteFiles one_write_files_;
  Counter gathered_;
  Counter bytes_;
  Counter taken_over_;
  Counter sent_;
  Counter sent_durably_;
  Counter sent_early_;
};

}  // namespace nfsrdma::cache
