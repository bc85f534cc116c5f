// One FUSE request, answered exactly once.
//
// The kernel waits uninterruptibly for a request that this program has read, so a caller that is
// being killed is released early: its request is answered EINTR while the operation goes on, and
// the operation's own answer then has no effect (it is told so).
#pragma once

#include <fuse_lowlevel.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "transport/base/buffer.h"
#include "transport/rpc/message.h"

namespace nfsrdma::fuse {

struct PendingRequest;

/// A move-only handle, made inside the operation that libfuse called and kept until the answer.
/// Allocates nothing from the heap. Belongs to the session's reactor thread. A handle that is
/// destroyed unanswered answers EIO, and that is counted as a defect of the operation.
///
/// Every reply function returns true when the kernel took the answer. False means that nobody will
/// ever know of it (answered EINTR before, or the kernel gave the request up): the operation takes
/// back what its caller would have owned, such as an open file or a lookup count.
class Request {
 public:
  /// Takes over `request` inside the operation that libfuse is calling.
  explicit Request(fuse_req_t request);
  Request(Request&& other) noexcept;
  Request& operator=(Request&&) = delete;
  ~Request();

  /// Who asks: uid, gid, pid of the calling thread, umask. Valid as long as the handle.
  const fuse_ctx& context() const;
  /// The session's user data.
  void* user_data() const;
  /// "read": what the kernel asks for, and of which inode (its number for it).
  std::string_view operation() const;
  std::uint64_t node() const;
  /// The same as an RPC credential, with supplementary groups. Ask while the caller still waits,
  /// that is before the first suspension: its groups are read from /proc.
  rpc::Credential caller() const;
  /// Only inside the operation libfuse is calling: ownership of the slot the request, and so a
  /// WRITE's payload, lies in. The payload pointer stays valid as long as the buffer.
  Buffer take_buffer();
  /// The answer was given, by a reply function or early because the caller is being killed.
  bool answered() const;
  /// The kernel asked for this request to be interrupted: its caller got a signal. Unless he is
  /// being killed nothing has been answered: an operation that can take long and has changed
  /// nothing may answer EINTR itself.
  bool interrupted() const;
  /// Calls `wake` once when that happens, until the next call; it must not answer. Null: nobody.
  void on_interrupt(std::function<void()> wake);

  bool reply_error(int error_number);
  /// For FORGET and FORGET_MULTI, which have no answer.
  bool reply_none();
  bool reply_ok() { return reply_error(0); }
  bool reply_entry(const fuse_entry_param& entry);
  bool reply_create(const fuse_entry_param& entry, const fuse_file_info& file);
  bool reply_open(const fuse_file_info& file);
  bool reply_attr(const struct stat& attributes, double timeout_seconds);
  bool reply_readlink(const char* target);
  bool reply_write(std::size_t bytes);
  /// READ, READDIR, READDIRPLUS and extended attributes: sent from where the bytes lie.
  bool reply_data(std::span<const std::byte> data);
  /// GETLK.
  bool reply_lock(const struct ::flock& lock);
  bool reply_statfs(const struct statvfs& status);
  /// The size of an extended attribute or of the list of them.
  bool reply_xattr(std::size_t bytes);

 private:
  template <class Send>
  bool answer(Send&& send);

  PendingRequest* pending_;
};

}  // namespace nfsrdma::fuse
