// The memory of the transport to one server. It outlives connections: replies may view messages
// long after theirs is gone, and callbacks may be answered into nothing.
#pragma once

#include <memory>

#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/tcp/backward_call.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/message.h"
#include "transport/tcp/options.h"

namespace nfsrdma::tcp {

struct Pools {
  /// Everything but the large slots, sized by the options.
  static Result<std::unique_ptr<Pools>> create(const Options& options, BufferPool& large);

  std::unique_ptr<BufferPool> answer_memory;
  std::unique_ptr<MessagePool> messages;
  std::unique_ptr<CallContextPool> contexts;
  std::unique_ptr<BackwardCallPool> backward;
  BufferPool& large;  ///< the owner's: one slot for each message longer than Options::message_size

 private:
  explicit Pools(BufferPool& large_slots) : large(large_slots) {}
};

}  // namespace nfsrdma::tcp
