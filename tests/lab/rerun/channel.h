// Connections of a rerun: the recording is the server.
#pragma once

#include <map>
#include <memory>

#include "tests/lab/rerun/reactor.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::lab::rerun {

class RerunChannel;

/// Makes connections, and brings them what the recording has of them. Outlives them.
class RerunChannels final {
 public:
  /// Both outlive it.
  RerunChannels(World& world, RerunReactor& reactor) : world_(world), reactor_(reactor) {}

  /// The factory of an attempt to mount; this outlives it.
  std::unique_ptr<rpc::ChannelFactory> factory();
  /// Takes an input of a connection.
  void deliver(const Entry& entry);

 private:
  friend class RerunChannel;
  class Factory;

  Result<std::unique_ptr<rpc::Channel>> connect(std::uint32_t connection,
                                                rpc::ChannelObserver& observer);

  World& world_;
  RerunReactor& reactor_;
  std::map<std::uint32_t, RerunChannel*> channels_;
};

}  // namespace nfsrdma::lab::rerun
