// Makes TCP connections to one server (rpc::ChannelFactory), and owns the memory that they use one
// after another.
#pragma once

#include <memory>
#include <string>

#include "transport/net/address.h"
#include "transport/rpc/channel.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/options.h"
#include "transport/tcp/pools.h"

namespace nfsrdma::tcp {

/// Belongs to one reactor. Must outlive its channels and every Reply and BackwardCall of them.
class ChannelFactory final : public rpc::ChannelFactory {
 public:
  /// `large` lends a slot to each message longer than Options::message_size; a call whose max_reply
  /// is larger than its slots fails.
  static Result<std::unique_ptr<ChannelFactory>> create(Reactor& reactor,
                                                        const net::Address& server,
                                                        const Options& options, BufferPool& large);

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override;
  std::string_view description() const override { return description_; }
  const Counters& counters() const { return counters_; }
  const Pools& pools() const { return *pools_; }

 private:
  ChannelFactory(Reactor& reactor, const net::Address& server, const Options& options,
                 std::unique_ptr<Pools> pools);

  Reactor& reactor_;
  const net::Address server_;
  const Options options_;
  const std::string description_;
  Counters counters_;
  std::unique_ptr<Pools> pools_;
};

}  // namespace nfsrdma::tcp
