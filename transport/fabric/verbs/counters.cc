#include "transport/fabric/verbs/counters.h"

namespace nfsrdma::fabric::verbs {

void Counters::visit(CounterVisitor& visitor) const {
  visitor.visit("posts", posts.value());
  visitor.visit("work_requests", work_requests.value());
  visitor.visit("signaled", signaled.value());
  visitor.visit("sends", sends.value());
  visitor.visit("sends_copied", sends_copied.value());
  visitor.visit("sends_over_by_answer", sends_over_by_answer.value());
  visitor.visit("writes_posted", writes_posted.value());
  visitor.visit("reads_posted", reads_posted.value());
  visitor.visit("receives", receives.value());
  visitor.visit("receive_posts", receive_posts.value());
  visitor.visit("completions", completions.value());
  visitor.visit("completion_events", completion_events.value());
  visitor.visit("arms", arms.value());
  visitor.visit("leases", leases.value());
  visitor.visit("binds", binds.value());
  visitor.visit("windows", windows.value());
  visitor.visit("invalidations_local", invalidations_local.value());
  visitor.visit("invalidations_remote", invalidations_remote.value());
}

}  // namespace nfsrdma::fabric::verbs
