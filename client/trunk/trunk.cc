#include "client/trunk/trunk.h"

namespace nfsrdma::client {

Trunk::Trunk(Reactor& reactor, rpc::ChannelFactory& channels)
    : keeper_(reactor, channels, *this, *this) {}

Task<Result<void>> Trunk::start(TrunkObserver& observer, rpc::BackwardCallHandler& callbacks) {
  observer_ = &observer;
  callbacks_ = &callbacks;
  return keeper_.start();
}

Task<Result<void>> Trunk::on_new_channel(rpc::Channel& channel) {
  return observer_->on_new_channel(channel);
}

void Trunk::hurry() {
  if (rpc::Channel* channel = keeper_.channel()) channel->hurry();
}

std::size_t Trunk::max_inline_reply() const {
  const rpc::Channel* channel = keeper_.channel();
  return channel ? channel->max_inline_reply() : 0;
}

std::size_t Trunk::open_calls() const {
  const rpc::Channel* channel = keeper_.channel();
  return channel ? channel->open_calls() : 0;
}

std::size_t Trunk::calls_in_flight() const {
  const rpc::Channel* channel = keeper_.channel();
  return channel ? channel->calls_in_flight() : 0;
}

std::uint64_t Trunk::replies() const {
  const rpc::Channel* channel = keeper_.channel();
  return channel ? channel->replies() : 0;
}

}  // namespace nfsrdma::client
