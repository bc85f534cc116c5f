// One connection: a queue pair, its completion queue, and its id at the connection manager. It
// joins the parts of this folder and keeps the promises of fabric.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/completion_queue.h"
#include "transport/fabric/verbs/counters.h"
#include "transport/fabric/verbs/receive_queue.h"
#include "transport/fabric/verbs/registration.h"
#include "transport/fabric/verbs/send_queue.h"
#include "transport/fabric/verbs/verbs_context.h"

namespace nfsrdma::fabric::verbs {

class VerbsEndpoint final : public Endpoint,
                            private EventHandler,
                            private DeviceUser,
                            private CompletionQueue::Consumer {
 public:
  VerbsEndpoint(std::shared_ptr<VerbsContext> context, EndpointHandler& handler,
                const EndpointOptions& options);
  ~VerbsEndpoint() override;

  /// Initiator: starts connecting. Every failure is reported by on_disconnected.
  void connect(const Address& peer);
  /// Responder: takes over the id of a connection request. The acceptance goes out at the end of
  /// the turn, when the receives that its consumer posts meanwhile are in place.
  Result<void> adopt(ConnectionId id, const ConnectionEvent& request);

  Result<void> post_receive(ReceiveBuffer& buffer) override;
  Result<void> post_send(const SendWork& work) override;
  bool answered(void* context) override;
  Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) override;
  void cancel(Lease& lease) override;
  bool invalidate(Lease& lease) override;
  bool remote_invalidation_safe() const override;
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                          const Segment& to) override;
  Result<void> post_read(std::span<std::byte> into, const Segment& from, void* context) override;
  void disconnect(Error reason) override;
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  enum class Phase : std::uint8_t {
    connecting,
    accepting,  ///< Sends may be posted, and wait
    open,
    closing,  ///< nothing is received any more; posted requests are still sent
    closed,
  };

  // endpoint_connect.cc
  void on_event(const ConnectionEvent& event) override;
  Result<void> start_connecting(const Address& peer);
  Result<void> on_address_resolved();
  Result<void> on_route_resolved();
  Result<void> accept_now();
  Result<void> use_device();
  Result<void> make_queues();
  rdma_conn_param parameters() const;
  void on_established(const ConnectionEvent& event);
  void try_step(Result<void> result);

  // endpoint.cc
  Result<void> check_open() const;
  Result<void> posted(Result<void> result);
  ibv_qp* queue_pair() const override { return id_ ? id_->qp : nullptr; }
  ibv_cq* completion_queue() const override { return completions_.get(); }
  void on_completions() override;
  void on_completion(const ibv_wc& completion) override;
  void on_received(const ibv_wc& completion);
  void poll();
  void tell_ended();
  void turn();
  Result<void> flush();

  // endpoint_close.cc
  void on_queue_event(ibv_event_type type) override;
  void on_device_failed() override;
  void on_failed_completion(const ibv_wc& completion);
  void on_peer_gone(const ConnectionEvent& event);
  void on_close_timer();
  void close_for(Error reason);
  void fail_with(Error reason);
  void send_disconnect();
  void finish();
  void release_everything();

  std::shared_ptr<VerbsContext> context_;
  EndpointHandler& handler_;
  Counters counters_;
  std::shared_ptr<Device> device_;
  ConnectionId id_;
  CompletionQueue completions_;
  ReceiveQueue receives_;
  SendQueue sends_;
  std::unique_ptr<Registration> registration_;
  Deferred turn_;
  Timer timer_;  // while connecting and while closing
  std::vector<std::byte> private_data_;
  Duration connect_timeout_;
  std::string peer_;
  std::string device_name_;
  Tier tier_ = Tier::windows;     // of the device, which counters are asked for when it is gone
  std::optional<Tier> promised_;  // what remote_invalidation_safe was answered by
  std::uint32_t ird_;
  std::uint32_t ord_;
  std::uint32_t receive_room_ = 0;
  Phase phase_ = Phase::connecting;
  bool in_event_ = false;        // a turn() follows anyway
  bool polling_wanted_ = false;  // more completions may be there
  bool accept_wanted_ = false;
  bool broken_ = false;             // nothing more can be sent
  bool reason_is_a_guess_ = false;  // a better one may come
  bool disconnect_sent_ = false;
  bool finishing_ = false;
  Error reason_;
};

}  // namespace nfsrdma::fabric::verbs
