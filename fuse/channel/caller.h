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

/// How the requests of callers are sent.
struct CallerPolicy {
  rpc::AuthFlavor flavor = rpc::AuthFlavor::sys;
  /// Another program has mounted, perhaps in another pid namespace: the number of a caller may be
  /// that of an unrelated process here.
  bool foreign_numbers = false;
};

/// This process, with its effective user and its groups.
rpc::Credential own_credential(Reactor& reactor, rpc::AuthFlavor flavor);

/// Makes credentials. The supplementary groups are the caller's, on a mount of one user, too: it
/// may have been given groups since this process was started, or have given some up. They are read
/// from /proc, and remembered for a short while. A caller that /proc hides has none, which can only
/// take rights away. A process that makes requests for another user (overlayfs makes them for the
/// user that has mounted it) has the groups that all processes of that user have had here: the user
/// has come here with them, or without. Belongs to one shard.
class Callers {
 public:
  Callers(Reactor& reactor, CallerPolicy policy) : reactor_(reactor), policy_(policy) {}

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
  /// What all processes of a user had that were seen to act as that user.
  struct User {
    uid_t uid = 0;
    rpc::Credential common;  ///< its groups
    bool known = false;
  };
  static constexpr std::size_t kUsers = 64;

  void note_groups(uid_t uid, std::string_view status);
  void add_common_groups(rpc::Credential& credential) const;

  Reactor& reactor_;
  CallerPolicy policy_;
  std::array<Entry, kEntries> entries_;
  std::array<User, kUsers> users_;
  bool hidden_reported_ = false;
};

/// Fills the group list from the text of /proc/<pid>/status; no more than AUTH_SYS can carry.
void parse_groups(std::string_view status, rpc::Credential& credential);

}  // namespace nfsrdma::fuse
