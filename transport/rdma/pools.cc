#include "transport/rdma/pools.h"

#include <algorithm>

#include "transport/rdma/backward_responder.h"
#include "transport/rdma/header.h"

namespace nfsrdma::rdma {
namespace {

/// The longest header, with all lists full, plus the word of zeros behind it.
constexpr std::size_t kLongestHeader =
    kMinHeader + kMaxReadSegments * kReadSegmentSize +
    kMaxWriteChunks * (kWriteChunkHead + kMaxSegments * kSegmentSize) + kReplyChunkHead +
    kMaxSegments * kSegmentSize + xdr::kUnit;

/// Memory of one Send: a header, or all of a callback's answer. Arguments lie elsewhere, so that a
/// large send_size costs nothing here.
std::size_t send_memory_size(const Options& options) {
  return std::max(std::min(options.send_size, kMaxBackwardReply), kLongestHeader);
}

/// A context is needed until the Send is done and the leases are invalidated; credits come back
/// sooner.
std::size_t context_count(const Options& options) {
  return options.credits + options.credits / 4 + 2;
}

/// Callbacks beyond the grant are handled as long as there is room for them.
std::size_t backward_count(const Options& options) { return 2 * options.backward_credits; }

/// Messages of version 2 besides calls: the first message of a connection, which may outlive it
/// while the next one is made, and a few errors and options on their way.
constexpr std::size_t kProbes = 4;
constexpr std::size_t kControlMessages = 8;

std::size_t version_two_count(const Options& options) {
  return options.version == VersionChoice::one ? 0 : kProbes + kControlMessages;
}

/// Twice the credits, so that as many replies can be read while a full set is posted.
std::size_t receive_count(const Options& options) {
  return 2 * options.credits + 2 * options.backward_credits + 2 * spare_receives(options);
}

}  // namespace

Result<std::unique_ptr<Pools>> Pools::create(const Options& options, BufferPool& reply_chunks) {
  std::unique_ptr<Pools> pools(new Pools(reply_chunks));
  auto send_memory = BufferPool::create(
      send_memory_size(options),
      context_count(options) + backward_count(options) + version_two_count(options));
  if (!send_memory) return fail_from(send_memory);
  pools->send_memory = std::move(*send_memory);
  auto receive_memory = BufferPool::create(largest_receive(options), receive_count(options));
  if (!receive_memory) return fail_from(receive_memory);
  pools->receives = std::make_unique<ReceivePool>(std::move(*receive_memory));
  pools->contexts = std::make_unique<CallContextPool>(context_count(options), [&](auto&) {
    return std::make_unique<CallContext>(pools->send_memory->acquire());
  });
  pools->backward =
      std::make_unique<BackwardCallPool>(backward_count(options), [&](BackwardCallPool& pool) {
        return std::make_unique<BackwardCallSlot>(pool, pools->send_memory->acquire());
      });
  if (options.version != VersionChoice::one) {
    pools->control = std::make_unique<ControlPool>(kControlMessages, [&](ControlPool& pool) {
      return std::make_unique<ControlMessage>(pool, pools->send_memory->acquire());
    });
  }
  return pools;
}

Result<void> Pools::register_with(fabric::Fabric& fabric) {
  TRY(fabric.register_pool(*send_memory));
  TRY(fabric.register_pool(receives->memory()));
  return fabric.register_pool(reply_chunks);
}

}  // namespace nfsrdma::rdma
