// One FUSE request, answered exactly once.
//
// The kernel waits uninterruptibly for a request that this program has read, so a caller that is
// being killed is released early: its request is answered EINTR while the operation goes on, and
// the operation's own answer then has no effect (it is told so).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "fuse/channel/answers.h"
#include "fuse/channel/caller.h"
#include "fuse/channel/kernel_channel.h"
#include "transport/rpc/message.h"

namespace nfsrdma::fuse {

class InFlight;
struct PendingRequest;

/// A move-only handle, which an operation is called with and keeps until the answer.
/// Allocates nothing from the heap. Belongs to the session's reactor thread. A handle that is
/// destroyed unanswered answers EIO, and that is counted as a defect of the operation.
///
/// Every reply function returns true when the kernel took the answer. False means that the
/// caller will not see it (answered EINTR before, or the kernel gave the request up): the operation
/// takes back what its caller would have owned, such as an open file or a lookup count.
class Request {
 public:
  Request(InFlight& in_flight, KernelChannel& channel, const fuse_in_header& header);
  Request(Request&& other) noexcept;
  Request& operator=(Request&&) = delete;
  ~Request();

  /// The caller. Valid as long as the handle.
  const CallerIds& context() const;
  /// The operation, FUSE_READ, "read", and the kernel's number of its inode.
  std::uint32_t opcode() const;
  std::string_view operation() const;
  std::uint64_t node() const;
  /// The same as an RPC credential, with supplementary groups. Ask while the caller still waits,
  /// that is before the first suspension: its groups are read from /proc.
  rpc::Credential caller() const;
  /// The answer was given, by a reply function or early because the caller is being killed.
  bool answered() const;
  /// Calls `wake` once when the kernel asks for this request to be interrupted (its caller got a
  /// signal), or when it is answered early, until the next call; it must not answer. Unless the
  /// caller is being killed, nothing has been answered: an operation that can take long and has
  /// changed nothing may answer EINTR itself. Null: nothing is called.
  void on_interrupt(std::function<void()> wake);

  bool reply_error(int error_number);
  /// For FORGET and BATCH_FORGET, which have no answer. An entry of an io_uring is given back.
  void reply_none();
  bool reply_ok() { return reply_error(0); }
  bool reply_entry(const EntryAnswer& entry);
  bool reply_create(const EntryAnswer& entry, const OpenAnswer& file);
  bool reply_open(const OpenAnswer& file);
  bool reply_attr(const struct stat& attributes, double timeout_seconds);
  bool reply_readlink(std::string_view target);
  bool reply_write(std::size_t bytes);
  /// READ, READDIR and READDIRPLUS: sent from where the bytes lie.
  bool reply_data(std::span<const std::byte> data);
  /// GETLK.
  bool reply_lock(const fuse_file_lock& lock);
  bool reply_statfs(const struct statvfs& status);

 private:
  bool answer(int error_number, std::span<const std::byte> body = {});

  PendingRequest* pending_;
};

}  // namespace nfsrdma::fuse
