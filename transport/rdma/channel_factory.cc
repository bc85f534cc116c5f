#include "transport/rdma/channel_factory.h"

#include "transport/rdma/connection.h"
#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {

Result<std::unique_ptr<ChannelFactory>> ChannelFactory::create(Reactor& reactor,
                                                               fabric::Fabric& fabric,
                                                               const net::Address& server,
                                                               const Options& options,
                                                               BufferPool& reply_chunks) {
  register_code_namer(Layer::fabric, net::fault_name);
  register_code_namer(Layer::transport, fault_name);
  auto pools = Pools::create(options, reply_chunks);
  if (!pools) return fail_from(pools);
  TRY((*pools)->register_with(fabric));
  return std::unique_ptr<ChannelFactory>(
      new ChannelFactory(reactor, fabric, server, options, std::move(*pools)));
}

ChannelFactory::ChannelFactory(Reactor& reactor, fabric::Fabric& fabric, const net::Address& server,
                               const Options& options, std::unique_ptr<Pools> pools)
    : reactor_(reactor),
      fabric_(fabric),
      server_(server),
      options_(options),
      description_("rdma via " + std::string(fabric.name()) + " to " + server.text()),
      pools_(std::move(pools)) {}

Result<std::unique_ptr<rpc::Channel>> ChannelFactory::connect(rpc::ChannelObserver& observer) {
  auto connection = std::make_unique<Connection>(reactor_, options_, *pools_, counters_,
                                                 server_version_, observer);
  TRY(connection->connect(fabric_, server_));
  return std::unique_ptr<rpc::Channel>(std::move(connection));
}

}  // namespace nfsrdma::rdma
