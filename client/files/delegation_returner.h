// Gives delegations back to the server, a few at a time, in the background (RFC 8881 sections
// 10.2.1, 10.4.2, 18.6): data are sent and committed, opens and locks made known to the server,
// then DELEGRETURN.
#pragma once

#include "client/state/delegation.h"
#include "client/state/open_file.h"
#include "transport/base/metrics.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::client {

struct Files;

/// Part of Delegations.
class DelegationReturner {
 public:
  /// DELEGRETURNs in flight at most, and never more than half of the session's slots: a recall of
  /// every delegation must leave slots to other requests.
  static constexpr std::size_t kMostAtOnce = 8;

  explicit DelegationReturner(Files& files);

  /// Queues a delegation whose phase is `returning` and that stands in no list. Its return starts
  /// after the present turn of the reactor.
  void add(Delegation& delegation);
  /// Ends when the delegation is gone.
  Task<void> done(DelegationRef delegation);
  void note_gone() { gone_.wake_all(); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> work();
  Task<void> give_back(DelegationRef delegation);
  Task<void> claim_opens(DelegationRef delegation);
  Task<void> establish_locks(FileHandle handle);
  Task<void> send(DelegationRef delegation, OpenFileRef open);

  Files& files_;
  IntrusiveList<Delegation> waiting_;
  WaitQueue gone_;
  std::size_t workers_ = 0;
  Counter returned_;
};

}  // namespace nfsrdma::client
