#include "fuse/channel/caller.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "fuse/channel/proc_status.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

/// How long a process's groups are believed to stay what they were.
constexpr Duration kGroupsLifetime = std::chrono::seconds(1);
/// No group has this number.
constexpr gid_t kNoGroup = static_cast<gid_t>(-1);

void add_group(rpc::Credential& credential, std::uint32_t group) {
  if (group == credential.gid || credential.group_count == credential.groups.size()) return;
  credential.groups[credential.group_count++] = group;
}

template <class Take>
void for_each_number(std::string_view list, Take&& take) {
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    std::uint32_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) take(number);
    at = next == at ? at + 1 : next;
  }
}

/// The real, effective, saved and file system's user.
constexpr int kUserIds = 4;

/// How many of them are this user. A process of another pid namespace has a number here that may be
/// an unrelated process's.
int user_ids_of(std::string_view status, uid_t user) {
  int found = 0;
  for_each_number(status_field(status, "Uid"),
                  [&](std::uint32_t one) { found += one == user ? 1 : 0; });
  return found;
}

}  // namespace

void parse_groups(std::string_view status, rpc::Credential& credential) {
  for_each_number(status_field(status, "Groups"),
                  [&](std::uint32_t group) { add_group(credential, group); });
}

rpc::Credential own_credential(Reactor& reactor, rpc::AuthFlavor flavor) {
  rpc::Credential own;
  own.flavor = flavor;
  own.uid = reactor.seen("effective user", ::geteuid());
  own.gid = reactor.seen("effective group", ::getegid());
  const int count = std::max(0, ::getgroups(0, nullptr));
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgroups(count, groups.data()) >= 0) {
    for (auto group : groups) add_group(own, group);
  }
  own.groups = reactor.seen("own groups", own.groups);
  const auto most = static_cast<std::uint32_t>(own.groups.size());
  own.group_count = std::min(most, reactor.seen("number of own groups", own.group_count));
  return own;
}

rpc::Credential Callers::credential(const CallerIds& ids) {
  if (policy_.flavor == rpc::AuthFlavor::none) {
    rpc::Credential nobody;
    nobody.flavor = policy_.flavor;
    nobody.uid = ids.uid;
    nobody.gid = ids.gid;
    return nobody;
  }
  auto& entry = entries_[static_cast<std::size_t>(ids.pid) % kEntries];
  const auto now = reactor_.now();
  const bool known = entry.pid == ids.pid && entry.uid == ids.uid && entry.gid == ids.gid &&
                     now - entry.read_at < kGroupsLifetime;
  if (known && ids.pid != 0) return entry.credential;
  entry = Entry{ids.pid, ids.uid, ids.gid, now, {}};
  entry.credential.flavor = policy_.flavor;
  entry.credential.uid = ids.uid;
  entry.credential.gid = ids.gid;
  const ProcStatus status(reactor_, ids.pid);
  const std::string_view text = status.text();
  const int user_ids = user_ids_of(text, ids.uid);
  const bool for_another = !text.empty() && user_ids == 0;
  if (status.hidden() || (for_another && policy_.foreign_numbers)) {
    report_hidden(ids);
  } else if (for_another) {
    add_common_groups(entry.credential);
  } else {
    parse_groups(text, entry.credential);
    // Root that acts for a user (setfsuid(2)) has groups of its own, which are not that user's.
    if (user_ids == kUserIds) note_groups(ids.uid, text);
  }
  return entry.credential;
}

void Callers::note_groups(uid_t uid, std::string_view status) {
  rpc::Credential groups;
  groups.gid = kNoGroup;
  parse_groups(status, groups);
  User& user = users_[uid % kUsers];
  if (!user.known || user.uid != uid) {
    user = {uid, groups, true};
    return;
  }
  const auto has = [&](std::uint32_t group) {
    const auto end = groups.groups.begin() + groups.group_count;
    return std::find(groups.groups.begin(), end, group) != end;
  };
  rpc::Credential& common = user.common;
  const auto end = common.groups.begin() + common.group_count;
  const auto left = std::stable_partition(common.groups.begin(), end, has);
  common.group_count = static_cast<std::uint32_t>(left - common.groups.begin());
}

void Callers::add_common_groups(rpc::Credential& credential) const {
  const User& user = users_[credential.uid % kUsers];
  if (!user.known || user.uid != credential.uid) return;
  for (std::uint32_t i = 0; i < user.common.group_count; ++i) {
    add_group(credential, user.common.groups[i]);
  }
}

void Callers::report_hidden(const CallerIds& ids) {
  if (hidden_reported_) return;
  hidden_reported_ = true;
  log::warning(
      "callers that /proc does not show (process {} of user {} is one) act without their "
      "supplementary groups, and a signal may end a call of theirs that the server leaves "
      "unanswered; is /proc mounted with hidepid, or are they in another pid namespace?",
      ids.pid, ids.uid);
}

}  // namespace nfsrdma::fuse
