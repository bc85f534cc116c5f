// The proxy's side of a connection to the server: provider, memory, channel.
#pragma once

#include <memory>
#include <string>

#include "tests/lab/wire/provider.h"
#include "tests/responder/transport/core.h"
#include "transport/base/buffer.h"
#include "transport/capture/sink.h"
#include "transport/fabric/fabric.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::lab::proxy {

/// Which server, and how. One object for a proxy.
struct UpstreamOptions {
  net::Address server;
  Carrier carrier = Carrier::iwarp;
  FabricMaker verbs;                                 ///< see make_provider
  responder::ResponderPools* client_side = nullptr;  ///< has the data of calls and results
  std::size_t inline_size = 4096;                    ///< largest message each way, in bytes
  std::uint32_t calls = 0;                           ///< the most that a client has open
  bool crc = true;                                   ///< MPA CRC
  capture::Sink* wire = nullptr;                     ///< records what is on the wire, or null
  capture::Sink* whole = nullptr;  ///< records the RPCs, each whole, as NFS over TCP; or null
};

/// Members are destroyed from the last: the channel, the provider, then the memory they use.
struct Upstream {
  /// Begins to connect; `observer` is told the rest.
  static Result<std::unique_ptr<Upstream>> connect(Reactor& reactor, const UpstreamOptions& options,
                                                   rpc::ChannelObserver& observer);

  std::unique_ptr<BufferPool> heads;    ///< for the calls
  std::unique_ptr<BufferPool> replies;  ///< Reply chunks; over TCP whole replies
  std::unique_ptr<rpc::ChannelFactory> factory;
  std::unique_ptr<fabric::Fabric> fabric;  ///< null over TCP
  std::unique_ptr<rpc::Channel> channel;
};

}  // namespace nfsrdma::lab::proxy
