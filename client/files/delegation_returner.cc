#include "client/files/delegation_returner.h"

#include <algorithm>
#include <vector>

#include "client/files/files.h"
#include "client/files/local_lock.h"
#include "client/requests/delegreturn.h"
#include "transport/base/log.h"

namespace nfsrdma::client {

namespace {

/// The open of the user that the delegation was granted to: one request can have the credential of
/// one user only. Null: there is none.
OpenFileRef open_of_holder(const Delegation& delegation, const std::vector<OpenFileRef>& files) {
  const auto own = std::ranges::find_if(files, [&](const OpenFileRef& file) {
    return file->caller().uid == delegation.caller().uid;
  });
  return own == files.end() ? nullptr : *own;
}

}  // namespace

DelegationReturner::DelegationReturner(Files& files)
    : files_(files), gone_(files.context.reactor) {}

void DelegationReturner::add(Delegation& delegation) {
  waiting_.push_back(delegation);
  const std::size_t half = files_.context.session.slots().usable() / 2;
  if (workers_ >= std::clamp<std::size_t>(half, 1, kMostAtOnce)) return;
  ++workers_;
  files_.context.session.background().start(work());
}

Task<void> DelegationReturner::work() {
  co_await files_.context.session.pauses().pause(Duration::zero());
  while (Delegation* next = waiting_.pop_front()) {
    const DelegationRef delegation = files_.delegation_table.find(next->handle());
    if (delegation.get() == next) co_await give_back(delegation);
  }
  --workers_;
}

Task<void> DelegationReturner::done(DelegationRef delegation) {
  while (!delegation->lost()) co_await gone_.wait();
}

Task<void> DelegationReturner::give_back(DelegationRef delegation) {
  const FileHandle handle = delegation->handle();
  Delegations& delegations = files_.delegations;
  if (delegations.user() && delegation->writes()) co_await delegations.user()->flush(handle);
  co_await claim_opens(delegation);
  co_await establish_locks(handle);
  if (delegations.user()) delegations.user()->on_delegation_ended(handle);
  auto files = files_.opens.detach(*delegation);
  co_await send(delegation, open_of_holder(*delegation, files));
  delegations.drop(delegation);
  // A CLOSE may wait for an OPEN, which the server may put off until it has another delegation.
  for (const OpenFileRef& file : files) {
    files_.context.session.background().start(files_.opens.narrow_quietly(file));
  }
}

// An open that the server does not take over is reopened, or given up, by its recovery.
Task<void> DelegationReturner::claim_opens(DelegationRef delegation) {
  std::vector<OpenFileRef> files;
  delegation->for_each_file([&](OpenFile& file) { files.push_back(file.shared_from_this()); });
  for (const OpenFileRef& file : files) {
    auto claimed = co_await files_.opens.claim(file);
    if (!claimed) log::info("an open under a delegation: {}", claimed.error().message());
  }
}

// Callers that wait for a lock ask the server from now on.
Task<void> DelegationReturner::establish_locks(FileHandle handle) {
  std::vector<OpenFileRef> files;
  files_.open_table.for_each_of(handle, [&](OpenFile& file) {
    if (file.locks().any_local()) files.push_back(file.shared_from_this());
  });
  for (const OpenFileRef& file : files) co_await client::establish_locks(files_, file);
  files_.lock_waiters.notify(handle);
}

// The open that only the delegation has kept goes with it. A failure changes nothing: the server
// has forgotten the delegation, or will revoke it.
Task<void> DelegationReturner::send(DelegationRef delegation, OpenFileRef open) {
  bool returned = false;
  if (open) returned = co_await files_.opens.close_with(delegation, std::move(open));
  if (!returned) {
    auto sent = co_await delegreturn(files_.context, delegation->caller(), delegation->handle(),
                                     delegation);
    if (!sent) log::debug("{}", sent.error().message());
    returned = sent.has_value();
  }
  if (returned) returned_.add();
}

void DelegationReturner::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("delegations_returned", returned_.value());
}

}  // namespace nfsrdma::client
