// Rules of MPA, DDP and RDMAP, and of memory that is offered.
#pragma once

#include <span>

#include "tests/lab/capture/conversation.h"
#include "tests/lab/lint/rule.h"

namespace nfsrdma::lab {

/// Events with the state that they are judged against, as it was before them.
struct StartupEvent {
  const Source& source;
  const iwarp::StartupFrame& frame;
  const Conversation& conversation;
};
struct SegmentEvent {
  const SegmentSeen& seen;
  const Conversation& conversation;
};
struct TransferEvent {
  const TransferSeen& seen;
  const Conversation& conversation;
};

std::span<const Rule<StartupEvent>> startup_rules();
std::span<const Rule<SegmentEvent>> segment_rules();
std::span<const Rule<TransferEvent>> transfer_rules();

}  // namespace nfsrdma::lab
