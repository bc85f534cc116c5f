// Acting as the caller of a request.
#pragma once

#include <sys/types.h>

#include "transport/rpc/message.h"

namespace nfsrdma::responder {

/// The user whose rights a request has.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::array<gid_t, rpc::kMaxAuthSysGroups> groups{};
  std::size_t group_count = 0;
};

/// The identity in an RPC header; callers without AUTH_SYS become the anonymous one.
Identity identity_of(const rpc::CallHeader& header, uid_t anonymous_uid, gid_t anonymous_gid);

/// Whether this process may act as others. As an ordinary user every caller is that user.
bool can_act_as_others();

/// From now on every caller is this process's user. The kernel refuses commands to an RDMA device
/// from a thread whose credentials have changed, be it for a moment, since it opened the device.
void keep_own_identity();

/// While it lives, file system calls of this thread are checked against `who` and create files
/// owned by it. Other threads are not affected. Does nothing in a process that is not root's.
class ActAs {
 public:
  explicit ActAs(const Identity& who);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;
  ~ActAs();

 private:
  bool changed_group_ = false;
  bool changed_user_ = false;
};

}  // namespace nfsrdma::responder
