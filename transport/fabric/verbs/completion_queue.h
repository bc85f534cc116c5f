// The completion queue of one connection. All of a device share one completion channel.
#pragma once

#include "transport/base/result.h"
#include "transport/fabric/verbs/counters.h"
#include "transport/fabric/verbs/device.h"

namespace nfsrdma::fabric::verbs {

class CompletionQueue {
 public:
  class Consumer {
   public:
    virtual void on_completion(const ibv_wc& completion) = 0;

   protected:
    ~Consumer() = default;
  };

  CompletionQueue(Counters& counters, Consumer& consumer)
      : counters_(counters), consumer_(consumer) {}

  /// `user` is told by the device when the queue was armed and something completed.
  Result<void> open(Device& device, DeviceUser& user, std::uint32_t depth);
  void close() { queue_.reset(); }
  ibv_cq* get() const { return queue_.get(); }

  /// The device said that something completed: the queue is not armed any more.
  void note_event();
  /// Hands on what completed, a bounded number of batches; when there is nothing left, arms the
  /// queue and looks once more. True: there may be more, call again.
  Result<bool> poll();

 private:
  Counters& counters_;
  Consumer& consumer_;
  CompletionQueueHandle queue_;
  bool armed_ = false;
};

}  // namespace nfsrdma::fabric::verbs
