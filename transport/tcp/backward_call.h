// A callback from the server on its way through this side, and the pool of them.
#pragma once

#include <cassert>

#include "transport/base/object_pool.h"
#include "transport/rpc/backward_responder.h"
#include "transport/tcp/record_writer.h"

namespace nfsrdma::tcp {

class BackwardResponder;

class BackwardCallSlot final : public rpc::BackwardSlot<BackwardCallSlot, BackwardResponder>,
                               public Outgoing {
 public:
  using BackwardSlot::BackwardSlot;
  void answer(rpc::AcceptStat status) override;
  void on_sent() override { done(); }
  void reset() {
    assert(!Outgoing::linked() && "I4: the kernel has not taken all of this reply");
    BackwardSlot::reset();
  }

 private:
  friend class BackwardResponder;
};

using BackwardCallPool = ObjectPool<BackwardCallSlot>;

}  // namespace nfsrdma::tcp
