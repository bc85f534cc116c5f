// Shared by the operations that send written data: memory, and the list of files with uncommitted
// data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/data/uncommitted_memory.h"
#include "cache/file/attribute_cache.h"
#include "cache/file/failure_log.h"
#include "cache/file/open_inode.h"
#include "cache/write/full_file_systems.h"
#include "cache/write/write_behind.h"
#include "client/mount.h"
#include "transport/base/buffer.h"
#include "transport/base/sync/async_mutex.h"

namespace nfsrdma::cache {

/// One for each mount; belongs to its shard.
class WriteBack {
 public:
  /// One of the slots is taken, and `dirty_ratio` percent of the rest at most, one at least, have
  /// data that is gathered, in flight or not committed. All references outlive this.
  WriteBack(client::Mount& mount, AttributeCache& attributes, FailureLog& failures,
            BufferPool& data_slots, unsigned dirty_ratio);
  WriteBack(const WriteBack&) = delete;
  WriteBack& operator=(const WriteBack&) = delete;

  client::Mount& mount() { return mount_; }
  AttributeCache& attributes() { return attributes_; }
  UncommittedMemory& memory() { return memory_; }
  const UncommittedMemory& memory() const { return memory_; }
  WriteBehind& behind() { return behind_; }
  const WriteBehind& behind() const { return behind_; }
  /// For data that a program believes written: fsync(2) or close(2) will tell it. What is cached of
  /// the file is doubted: the kernel's pages have those data. `operation`: a literal.
  void note_failure(Inode& inode, std::string_view operation, const Error& error);
  /// The server has refused data of this user: a WRITE, or a COMMIT.
  void note_refused(const Inode& inode, std::uint32_t uid, const Error& error);
  FullFileSystems& full() { return full_; }
  void visit_counters(CounterVisitor& visitor) const;

  /// Keeps data until they are committed.
  void keep(OpenInode& open, std::uint64_t offset, const Uncommitted& kept,
            const WriteVerifier& verifier);
  /// Files with uncommitted data, longest first.
  IntrusiveList<OpenInode>& uncommitted() { return uncommitted_; }
  /// Puts the file in the list if it has uncommitted data, or takes it out.
  void list(OpenInode& open);
  /// Runs of early COMMITs (relieve()) that have begun and not ended.
  std::size_t reliefs() const { return reliefs_; }
  void begin_relief() { ++reliefs_; }
  void end_relief() { --reliefs_; }

  /// Registered memory for sending lost data again, for the holder of the mutex.
  AsyncMutex& resend_mutex() { return resend_mutex_; }
  std::span<std::byte> resend_memory() { return resend_slot_.bytes(); }

 private:
  client::Mount& mount_;
  AttributeCache& attributes_;
  FailureLog& failures_;
  Buffer resend_slot_;
  AsyncMutex resend_mutex_;
  UncommittedMemory memory_;
  FullFileSystems full_;
  WriteBehind behind_;
  IntrusiveList<OpenInode> uncommitted_;
  std::size_t reliefs_ = 0;
};

}  // namespace nfsrdma::cache
