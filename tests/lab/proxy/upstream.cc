#include "tests/lab/proxy/upstream.h"

#include <utility>

#include "transport/rdma/channel_factory.h"
#include "transport/recording/recorded_channel.h"
#include "transport/tcp/channel_factory.h"

namespace nfsrdma::lab::proxy {
namespace {

/// A call without the data of its WRITEs.
constexpr std::size_t kHeadBytes = responder::kLongCallRoom;
/// A reply without the data of its READs, which are written by RDMA, and with it.
constexpr std::size_t kReplyBytes = responder::kMaxReplyMessage;
constexpr std::size_t kWholeReplyBytes = (std::size_t{1} << 20) + kReplyBytes;

Result<std::unique_ptr<rpc::ChannelFactory>> make_tcp(Reactor& reactor,
                                                      const UpstreamOptions& options,
                                                      BufferPool& replies) {
  tcp::Options tcp;
  tcp.calls = options.calls;
  tcp.capture = options.wire;
  auto factory = tcp::ChannelFactory::create(reactor, options.server, tcp, replies);
  if (!factory) return fail_from(factory);
  return std::unique_ptr<rpc::ChannelFactory>(std::move(*factory));
}

Result<std::unique_ptr<rpc::ChannelFactory>> make_rdma(Reactor& reactor,
                                                       const UpstreamOptions& options,
                                                       Upstream& upstream) {
  upstream.fabric = make_provider(reactor, options.carrier, options.verbs, options.wire);
  responder::ResponderPools& client_side = *options.client_side;
  for (BufferPool* pool :
       {upstream.heads.get(), client_side.messages.get(), client_side.data.get()}) {
    TRY(upstream.fabric->register_pool(*pool));
  }
  rdma::Options rdma;
  rdma.send_size = rdma.receive_size = options.inline_size;
  rdma.credits = options.calls;
  rdma.endpoint.crc = options.crc;
  rdma.endpoint.capture = options.wire;
  auto factory = rdma::ChannelFactory::create(reactor, *upstream.fabric, options.server, rdma,
                                              *upstream.replies);
  if (!factory) return fail_from(factory);
  return std::unique_ptr<rpc::ChannelFactory>(std::move(*factory));
}

}  // namespace

Result<std::unique_ptr<Upstream>> Upstream::connect(Reactor& reactor,
                                                    const UpstreamOptions& options,
                                                    rpc::ChannelObserver& observer) {
  auto upstream = std::make_unique<Upstream>();
  auto heads = BufferPool::create(kHeadBytes, options.calls);
  if (!heads) return fail_from(heads);
  upstream->heads = std::move(*heads);
  const bool rdma = has_rdma(options.carrier);
  auto replies = BufferPool::create(rdma ? kReplyBytes : kWholeReplyBytes, options.calls);
  if (!replies) return fail_from(replies);
  upstream->replies = std::move(*replies);
  auto factory = rdma ? make_rdma(reactor, options, *upstream)
                      : make_tcp(reactor, options, *upstream->replies);
  if (!factory) return fail_from(factory);
  upstream->factory = std::move(*factory);
  if (options.whole) {
    upstream->factory = std::make_unique<recording::RecordedFactory>(
        std::move(upstream->factory), *options.whole, options.server);
  }
  auto channel = upstream->factory->connect(observer);
  if (!channel) return fail_from(channel);
  upstream->channel = std::move(*channel);
  return upstream;
}

}  // namespace nfsrdma::lab::proxy
