#include "transport/tcp/channel_factory.h"

#include "transport/net/fault.h"
#include "transport/tcp/connection.h"

namespace nfsrdma::tcp {

Result<std::unique_ptr<ChannelFactory>> ChannelFactory::create(Reactor& reactor,
                                                               const net::Address& server,
                                                               const Options& options,
                                                               BufferPool& large) {
  register_code_namer(Layer::fabric, net::fault_name);
  auto pools = Pools::create(options, large);
  if (!pools) return fail_from(pools);
  return std::unique_ptr<ChannelFactory>(
      new ChannelFactory(reactor, server, options, std::move(*pools)));
}

ChannelFactory::ChannelFactory(Reactor& reactor, const net::Address& server, const Options& options,
                               std::unique_ptr<Pools> pools)
    : reactor_(reactor),
      server_(server),
      options_(options),
      description_("tcp to " + server.text()),
      pools_(std::move(pools)) {}

Result<std::unique_ptr<rpc::Channel>> ChannelFactory::connect(rpc::ChannelObserver& observer) {
  auto connection = std::make_unique<Connection>(reactor_, options_, *pools_, counters_, observer);
  TRY(connection->connect(server_));
  return std::unique_ptr<rpc::Channel>(std::move(connection));
}

}  // namespace nfsrdma::tcp
