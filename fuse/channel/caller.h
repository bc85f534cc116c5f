// On whose behalf a FUSE request is made, as an RPC credential.
#pragma once

#include <sys/types.h>

#include <array>
#include <string_view>

#include "transport/base/reactor.h"
#include "transport/rpc/message.h"

namespace nfsrdma::fuse {

/// The caller, as the kernel tells; the pid is the calling thread's.
struct CallerIds {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
};

/// Whose requests are accepted, and the RPC flavor to send them with.
struct CallerPolicy {
  rpc::AuthFlavor flavor = rpc::AuthFlavor::sys;
  /// Requests of other users than the mount's owner arrive too (allow_other, allow_root).
  bool other_users = false;
};

/// Makes credentials. Without other users a caller with this process's own user has its groups. Of
/// any other (with other users; root may take another user for its requests by setfsuid(2)) the
/// supplementary groups are read from /proc, and remembered for a short while. A caller that /proc
/// hides has none: its user may have groups that this process has given up. Belongs to one shard.
class Callers {
 public:
  Callers(Reactor& reactor, CallerPolicy policy);

  rpc::Credential credential(const CallerIds& ids);
  /// Logs once what follows when /proc hides callers.
  void report_hidden(const CallerIds& ids);

 private:
  struct Entry {
    pid_t pid = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    TimePoint read_at{};
    rpc::Credential credential;
  };
  static constexpr std::size_t kEntries = 64;

  Reactor& reactor_;
  CallerPolicy policy_;
  rpc::Credential own_;  ///< of this process
  std::array<Entry, kEntries> entries_;
  bool hidden_reported_ = false;
};

/// Fills the group list from the text of /proc/<pid>/status; no more than AUTH_SYS can carry.
void parse_groups(std::string_view status, rpc::Credential& credential);

}  // namespace nfsrdma::fuse
