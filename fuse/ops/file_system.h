// The mounted file system: what every operation works on.
#pragma once

#include <cstddef>
#include <memory>

#include "cache/file/directory.h"
#include "cache/file/open.h"
#include "cache/files.h"
#include "cache/name/change_names.h"
#include "fuse/kernel/file.h"
#include "fuse/kernel/id_slab.h"
#include "fuse/kernel/inode_limit.h"
#include "fuse/kernel/inode_table.h"
#include "fuse/kernel/kernel_caches.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"

namespace nfsrdma::fuse {

struct FileSystemConfig {
  cache::AttributePolicy attributes;
  bool synchronous = false;  ///< the sync option: every write is durable before it is answered
  cache::DataLimits data;
  KernelCachesConfig kernel;
  std::size_t most_inodes = InodeTable::kMaxInodes;  ///< see InodeLimit
};

/// Owned by the daemon; belongs to the mount's shard. It is what operations() serve.
class FileSystem {
 public:
  /// The mount has been started. `data_slots`: the pool that requests are received into, of which
  /// cache::WriteBack takes a part. Both outlive the FileSystem.
  FileSystem(client::Mount& mount, BufferPool& data_slots, FileSystemConfig config);
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  /// For notifications; not needed for anything else. Before the first request.
  void attach(KernelChannel& channel) { kernel_.attach(std::make_shared<ChannelOrders>(channel)); }
  /// Commits and closes all files that are still open, when no request comes any more. Call before
  /// Mount::stop(); the channel may go afterwards.
  Task<void> finish();
  /// Expires all that is cached of files, here and in the kernel, but for files under a delegation.
  /// Returns the number of files.
  std::size_t drop_caches();
  void visit_counters(CounterVisitor& visitor) const;

  const FileSystemConfig& config() const { return config_; }
  cache::Files& files() { return files_; }
  client::Mount& mount() { return files_.mount(); }
  cache::AttributeCache& attributes() { return files_.attributes(); }
  KernelCaches& kernel() { return kernel_; }
  InodeTable& inodes() { return inodes_; }
  const InodeLimit& inode_limit() const { return inode_limit_; }
  void count_attribute_hit() { attribute_hits_.add(); }

  /// The place of a name that a request is about, with the node that the kernel takes it for. The
  /// kernel was told that node within the lifetime of names, or would have looked the name up
  /// first.
  cache::Place place_of(const InodeRef& directory, std::string name);

  /// Open files and directories, by the number the kernel has for them (fi->fh).
  FileRef add_file(cache::Opened opened);
  FileRef find_file(std::uint64_t id);
  FileRef remove_file(std::uint64_t id);
  std::uint64_t add_directory(InodeRef inode);
  cache::DirectoryRef find_directory(std::uint64_t id);
  void remove_directory(std::uint64_t id) { directories_.erase(id); }

 private:
  FileSystemConfig config_;
  InodeTable inodes_;
  cache::Files files_;
  KernelCaches kernel_;
  InodeLimit inode_limit_;
  IdSlab<FileRef> open_files_;
  IdSlab<cache::DirectoryRef> directories_;
  Counter attribute_hits_;
};

}  // namespace nfsrdma::fuse
