#include "transport/tcp/pools.h"

#include "transport/tcp/backward_responder.h"
#include "transport/tcp/requester.h"

namespace nfsrdma::tcp {
namespace {

/// Callbacks beyond the announced number are handled as long as there is room for them.
std::size_t backward_count(const Options& options) {
  return 2 * std::size_t{options.backward_calls};
}

/// As many replies as can be open, as many that are still being read, the callbacks, and the
/// message that is being received.
std::size_t message_count(const Options& options) {
  return 2 * (options.calls + kReservedCalls) + backward_count(options) + 1;
}

}  // namespace

Result<std::unique_ptr<Pools>> Pools::create(const Options& options, BufferPool& large) {
  std::unique_ptr<Pools> pools(new Pools(large));
  auto answers = BufferPool::create(options.message_size, backward_count(options));
  if (!answers) return fail_from(answers);
  pools->answer_memory = std::move(*answers);
  auto memory = BufferPool::create(options.message_size, message_count(options));
  if (!memory) return fail_from(memory);
  pools->messages = std::make_unique<MessagePool>(std::move(*memory));
  pools->contexts = std::make_unique<CallContextPool>(
      options.calls + kReservedCalls, [](auto&) { return std::make_unique<CallContext>(); });
  pools->backward =
      std::make_unique<BackwardCallPool>(backward_count(options), [&](BackwardCallPool& pool) {
        return std::make_unique<BackwardCallSlot>(pool, pools->answer_memory->acquire());
      });
  return pools;
}

}  // namespace nfsrdma::tcp
