// How a connection ends: by the peer, by an error, by this side.
#include <chrono>

#include "transport/base/log.h"
#include "transport/fabric/verbs/endpoint.h"
#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// How long a closing connection waits in all: for its posted requests, then for the peer.
constexpr Duration kCloseWait = std::chrono::milliseconds(500);

}  // namespace

void VerbsEndpoint::disconnect(Error reason) {
  if (phase_ == Phase::connecting) {
    broken_ = finishing_ = true;
  }
  close_for(std::move(reason));
}

/// Ends the connection in good order: sends posted requests, disconnects, waits for the peer.
void VerbsEndpoint::close_for(Error reason) {
  if (phase_ >= Phase::closing) return;
  phase_ = Phase::closing;
  reason_ = std::move(reason);
  timer_.arm(kCloseWait);
  if (!in_event_) turn_.schedule();
}

/// Ends the connection at once: nothing more can be sent.
void VerbsEndpoint::fail_with(Error reason) {
  if (phase_ == Phase::closed || finishing_) return;
  if (phase_ < Phase::closing || reason_is_a_guess_) reason_ = std::move(reason);
  phase_ = Phase::closing;
  broken_ = finishing_ = true;
  if (!in_event_) turn_.schedule();
}

/// The first failed request has the reason. Requests that the device flushes say only that the
/// queue pair has failed; the reason may follow as an event.
void VerbsEndpoint::on_failed_completion(const ibv_wc& completion) {
  if (phase_ >= Phase::closing && !reason_is_a_guess_) return;
  if (completion.status != IBV_WC_WR_FLUSH_ERR) return fail_with(completion_error(completion));
  if (reason_is_a_guess_) return;
  close_for(connection_error(Fault::reset, "the queue pair failed"));
  broken_ = reason_is_a_guess_ = true;
}

void VerbsEndpoint::on_queue_event(ibv_event_type type) {
  if (phase_ == Phase::closed) return;
  if (type == IBV_EVENT_COMM_EST) {
    // A message has arrived before the last step of the handshake: the connection is established.
    (void)::rdma_notify(id_.get(), type);
    return;
  }
  const Fault fault = type == IBV_EVENT_QP_ACCESS_ERR ? Fault::remote_access
                      : type == IBV_EVENT_QP_REQ_ERR  ? Fault::protocol
                                                      : Fault::reset;
  fail_with(connection_error(fault, ::ibv_event_type_str(type)));
}

void VerbsEndpoint::on_device_failed() {
  context_->forget(device_.get());
  fail_with(connection_error(Fault::reset, "the RDMA device failed"));
}

void VerbsEndpoint::on_peer_gone(const ConnectionEvent& event) {
  // The consumer gets the completions that came before the end.
  poll();
  fail_with(event_error(event));
}

void VerbsEndpoint::on_close_timer() {
  if (phase_ == Phase::connecting) {
    return fail_with(connection_error(Fault::timed_out, "connecting to " + peer_));
  }
  if (phase_ == Phase::accepting) {
    return fail_with(connection_error(Fault::timed_out, "the peer did not finish connecting"));
  }
  finishing_ = true;
  turn();
}

/// Puts the queue pair into its error state as well, which flushes its requests.
void VerbsEndpoint::send_disconnect() {
  if (std::exchange(disconnect_sent_, true)) return;
  broken_ = true;
  // It fails when there is no connection, or none any more.
  const bool disconnecting = id_ && id_->qp != nullptr && ::rdma_disconnect(id_.get()) == 0;
  if (!disconnecting) finishing_ = true;
}

void VerbsEndpoint::finish() {
  release_everything();
  handler_.on_disconnected(reason_);
}

/// Memory returns to its owners last, when the peer cannot reach it any more: after the windows
/// and the queue pair have been destroyed.
void VerbsEndpoint::release_everything() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  turn_.cancel();
  timer_.cancel();
  DeviceUser::unlink();
  if (id_ && id_->qp != nullptr) {
    send_disconnect();
    ibv_qp_attr failed{};
    failed.qp_state = IBV_QPS_ERR;
    (void)::ibv_modify_qp(id_->qp, &failed, IBV_QP_STATE);
    registration_->close();
    ::rdma_destroy_qp(id_.get());
  }
  completions_.close();
  sends_.clear();
  receives_.release_all();
  if (registration_) registration_->release_all();
  device_.reset();  // before the id, which keeps the device open
  id_.reset();
}

}  // namespace nfsrdma::fabric::verbs
