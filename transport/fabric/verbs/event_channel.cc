#include "transport/fabric/verbs/event_channel.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/base/log.h"
#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/presence.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// So many events are handled before other descriptors get their turn.
constexpr int kConnectionEventsPerTurn = 32;

ConnectionEvent copy_of(const rdma_cm_event& event) {
  ConnectionEvent copy;
  copy.type = event.event;
  copy.id = event.id;
  copy.status = event.status;
  const auto& param = event.param.conn;
  copy.responder_resources = param.responder_resources;
  copy.initiator_depth = param.initiator_depth;
  if (param.private_data != nullptr) {
    copy.length = std::min<std::size_t>(param.private_data_len, copy.data.size());
    std::memcpy(copy.data.data(), param.private_data, copy.length);
  }
  return copy;
}

}  // namespace

Result<std::shared_ptr<EventChannel>> EventChannel::open(Reactor& reactor) {
  TRY(check_presence());
  EventChannelHandle channel(::rdma_create_event_channel());
  if (!channel) return fail(call_error(errno, "open /dev/infiniband/rdma_cm"));
  const int flags = ::fcntl(channel->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(call_error(errno, "rdma_cm channel"));
  }
  std::shared_ptr<EventChannel> made(new EventChannel(reactor, std::move(channel)));
  TRY(reactor.watch(made->channel_->fd, EPOLLIN, *made));
  return made;
}

EventChannel::~EventChannel() { reactor_.unwatch(channel_->fd); }

Result<ConnectionId> EventChannel::make_id(EventHandler& handler) {
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(channel_.get(), &id, &handler, RDMA_PS_TCP) != 0) {
    return fail(call_error(errno, "rdma_create_id"));
  }
  return ConnectionId(id);
}

void EventChannel::on_ready(std::uint32_t) {
  const auto self = shared_from_this();  // an event may end the last connection, and this with it
  for (int round = 0; round < kConnectionEventsPerTurn; ++round) {
    rdma_cm_event* event = nullptr;
    if (::rdma_get_cm_event(channel_.get(), &event) != 0) {
      if (errno != EAGAIN) log::warning("rdma_get_cm_event: {}", std::strerror(errno));
      return;
    }
    const ConnectionEvent copy = copy_of(*event);
    (void)::rdma_ack_cm_event(event);
    if (copy.id->context != nullptr) {
      static_cast<EventHandler*>(copy.id->context)->on_event(copy);
    }
  }
}

}  // namespace nfsrdma::fabric::verbs
