// All that this client knows of a mount's files: attributes, data on its way, names, locks.
#pragma once

#include <memory>
#include <optional>

#include "cache/data/data_limits.h"
#include "cache/file/attribute_cache.h"
#include "cache/file/failure_log.h"
#include "cache/file/file.h"
#include "cache/file/inode_index.h"
#include "cache/name/silly_names.h"
#include "cache/read/read_ahead.h"
#include "cache/write/write_back.h"
#include "client/files/delegations.h"
#include "client/mount.h"

namespace nfsrdma::cache {

/// One for each mount; belongs to its shard.
class Files final : private client::DelegationUser {
 public:
  /// The mount has been started. `data_slots`: the pool that data arrives in, see WriteBack and
  /// ReadAhead. `observer` may be constructed later. All references outlive this.
  Files(client::Mount& mount, BufferPool& data_slots, AttributePolicy policy, InodeIndex& inodes,
        InodeObserver& observer, DataLimits limits = {});
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files();

  client::Mount& mount() { return mount_; }
  AttributeCache& attributes() { return attributes_; }
  WriteBack& writes() { return writes_; }
  ReadAhead& reads() { return reads_; }
  SillyNames& silly_names() { return silly_names_; }
  FailureLog& failures() { return failures_; }

  /// State that a new File of the inode shares with its other Files. released() comes later.
  std::shared_ptr<OpenInode> opened(Inode& inode, bool preserve_unlinked);
  /// No program has the file any more: only its close is left.
  void released(File& file);
  /// Commits uncommitted data, closes the open, and after the last one removes the silly name. Call
  /// after released().
  Task<void> close(FileRef file);

  /// The work left in closing all files. It makes progress as long as this changes.
  struct Unfinished {
    std::size_t files = 0;     ///< open
    std::size_t slots = 0;     ///< with data that is not durable
    std::size_t copied = 0;    ///< bytes of such data
    std::size_t gathered = 0;  ///< slots with data that was not sent, or not answered
    bool operator==(const Unfinished&) const = default;
    bool unsaved() const { return slots + copied + gathered > 0; }
  };
  Unfinished unfinished() const;
  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> flush(client::FileHandle file) override;
  void on_all_forgotten() override;
  void on_delegation_ended(const client::FileHandle& file) override;
  std::optional<LocalAttributes> local_attributes(const client::FileHandle& file) override;

  client::Mount& mount_;
  const InodeIndex& index_;
  InodeObserver& observer_;
  AttributeCache attributes_;
  FailureLog failures_;
  WriteBack writes_;
  ReadAhead reads_;
  SillyNames silly_names_;
};

}  // namespace nfsrdma::cache
