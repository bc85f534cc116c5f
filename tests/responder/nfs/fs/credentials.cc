#include "tests/responder/nfs/fs/credentials.h"

#include <grp.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

namespace nfsrdma::responder {

namespace {

// The identity that the process was started with; read before the first change.
struct OwnIdentity {
  uid_t uid = ::geteuid();
  gid_t gid = ::getegid();
  std::vector<gid_t> groups;

  OwnIdentity() {
    const int count = ::getgroups(0, nullptr);
    groups.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (count > 0 && ::getgroups(count, groups.data()) != count) groups.clear();
  }
};

const OwnIdentity& own() {
  static const OwnIdentity identity;
  return identity;
}

bool own_identity_only = false;

// The C library's wrapper would change every thread of the process.
void set_thread_groups(std::size_t count, const gid_t* groups) {
  ::syscall(SYS_setgroups, count, groups);
}

}  // namespace

Identity identity_of(const rpc::CallHeader& header, uid_t anonymous_uid, gid_t anonymous_gid) {
  Identity who;
  const rpc::Credential& credential = header.credential;
  if (credential.flavor != rpc::AuthFlavor::sys) {
    who.uid = anonymous_uid;
    who.gid = anonymous_gid;
    return who;
  }
  who.uid = credential.uid;
  who.gid = credential.gid;
  for (std::uint32_t group : credential.group_list()) who.groups[who.group_count++] = group;
  return who;
}

bool can_act_as_others() { return own().uid == 0 && !own_identity_only; }

void keep_own_identity() { own_identity_only = true; }

// Root keeps its capabilities, so its groups do not matter; only the group of new files does.
ActAs::ActAs(const Identity& who) {
  if (!can_act_as_others()) return;
  if (who.gid != own().gid) {
    ::setfsgid(who.gid);
    changed_group_ = true;
  }
  if (who.uid == 0) return;
  set_thread_groups(who.group_count, who.groups.data());
  ::setfsuid(who.uid);
  changed_user_ = true;
}

ActAs::~ActAs() {
  if (changed_user_) {
    ::setfsuid(own().uid);
    set_thread_groups(own().groups.size(), own().groups.data());
  }
  if (changed_group_) ::setfsgid(own().gid);
}

}  // namespace nfsrdma::responder
