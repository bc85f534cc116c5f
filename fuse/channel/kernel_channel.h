// A way between the kernel and this program: /dev/fuse, or an entry of FUSE's io_uring.
#pragma once

#include <linux/fuse.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/base/buffer.h"

namespace nfsrdma::fuse {

/// Brings requests to a Dispatcher, and takes answers and notifications.
class KernelChannel {
 public:
  /// Sends one message; the parts follow each other. 0, or an errno value: ENOENT when the kernel
  /// does not wait for this answer any more. Any thread.
  virtual int send(std::span<const iovec> parts) = 0;

  /// The kernel speaks FUSE 7.x; known once FUSE_INIT was answered.
  std::uint32_t kernel_minor = 0;
  /// A file that is open with FOPEN_DIRECT_IO can be mapped (Linux 6.6); known at the same time.
  bool maps_direct_io = false;
  /// FUSE_INIT agreed on FUSE over io_uring; known at the same time.
  bool over_io_uring = false;
  /// Answers sent here go over an io_uring, without a system call of their own.
  bool is_ring = false;

 protected:
  ~KernelChannel() = default;
};

/// One request as it came. Structure and payload may lie apart: then `arguments` holds the
/// operation's structure only. Memory is valid until the dispatcher returns.
struct Message {
  fuse_in_header header{};
  std::span<const std::byte> arguments;  ///< the operation's structure, then names and data
  std::span<const std::byte> payload{};  ///< names and data, where they lie apart
  Buffer* slot = nullptr;                ///< where the message lies; a handler may move it away
};

/// The answer to request `unique`: an errno value, or 0 and what follows.
int send_answer(KernelChannel& channel, std::uint64_t unique, int error_number,
                std::span<const std::byte> body = {});

/// Drops cached pages of an inode from `offset` on (`length` 0: to the end) and its attributes;
/// with a negative offset the attributes alone. Waits for pages that are locked. 0 or errno.
int notify_inval_inode(KernelChannel& channel, std::uint64_t node, std::int64_t offset,
                       std::int64_t length);
/// Whether the kernel looks a name up anew by itself when EEXIST says that it is not missing. Linux
/// does so since 6.2, which cannot be told from 6.1: true from 6.6 on. Known after INIT.
bool doubts_refuted_names(const KernelChannel& channel);
/// Whether sync_file_range(2) returns after the answers to the WRITEs that it has caused, and
/// OpenAnswer::no_flush has its effect: since Linux 6.16. Known after INIT.
bool waits_for_pages(const KernelChannel& channel);
/// Makes the kernel look a name up anew; open files and working directories stay. ENOSYS before
/// Linux 6.2, which would drop it instead. Waits for operations on the directory.
int notify_expire_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name);
/// Makes the kernel forget a name; who has the file open keeps it, and sees it as removed
/// (/proc/PID/fd). Waits for operations on the directory.
int notify_forget_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name);
/// Makes the kernel forget these inodes, but for those in use. ENOSYS before Linux 6.18.
int notify_forget_inodes(KernelChannel& channel, std::span<const std::uint64_t> nodes);

}  // namespace nfsrdma::fuse
