// Makes RPC-over-RDMA connections to one server (rpc::ChannelFactory), and owns the memory that
// they use one after another.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/fabric/fabric.h"
#include "transport/rdma/counters.h"
#include "transport/rdma/options.h"
#include "transport/rdma/pools.h"
#include "transport/rdma/version_probe.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::rdma {

/// Belongs to one reactor. Must outlive its channels and every Reply and BackwardCall of them.
class ChannelFactory final : public rpc::ChannelFactory {
 public:
  /// `reply_chunks` lends a slot to each Reply chunk; a call whose max_reply needs a Reply chunk
  /// larger than its slots fails. Registers the memory it uses, `reply_chunks` included, with the
  /// fabric, so that the fabric must be destroyed before factory and pool; memory of calls (head,
  /// arguments, result_sink) is registered by its owner. The reactor is the fabric's.
  static Result<std::unique_ptr<ChannelFactory>> create(Reactor& reactor, fabric::Fabric& fabric,
                                                        const net::Address& server,
                                                        const Options& options,
                                                        BufferPool& reply_chunks);

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override;
  bool try_again_at_once() override { return std::exchange(server_version_.try_again, false); }
  std::string_view description() const override { return description_; }
  const Counters& counters() const { return counters_; }
  const Pools& pools() const { return *pools_; }

 private:
  ChannelFactory(Reactor& reactor, fabric::Fabric& fabric, const net::Address& server,
                 const Options& options, std::unique_ptr<Pools> pools);

  Reactor& reactor_;
  fabric::Fabric& fabric_;
  const net::Address server_;
  const Options options_;
  const std::string description_;
  Counters counters_;
  ServerVersion server_version_;
  std::unique_ptr<Pools> pools_;
};

}  // namespace nfsrdma::rdma
