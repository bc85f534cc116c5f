// Counters of one connection.
#pragma once

#include "transport/base/metrics.h"

namespace nfsrdma::fabric::verbs {

struct Counters {
  Counter posts;          ///< ibv_post_send calls: doorbells
  Counter work_requests;  ///< in them
  Counter signaled;       ///< of those, the ones that report their completion
  Counter sends;
  Counter sends_copied;          ///< gathered in a buffer of the provider first
  Counter sends_over_by_answer;  ///< whose end was known from the peer's answer
  Counter writes_posted;
  Counter reads_posted;
  Counter receives;
  Counter receive_posts;      ///< ibv_post_recv calls
  Counter completions;        ///< polled
  Counter completion_events;  ///< wake-ups by the completion channel
  Counter arms;               ///< ibv_req_notify_cq calls
  Counter leases;
  Counter binds;    ///< of memory windows
  Counter windows;  ///< allocated
  Counter invalidations_local;
  Counter invalidations_remote;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::fabric::verbs
