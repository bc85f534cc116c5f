// What requester and backward responder of one connection share: the endpoint, the receive buffers
// behind both directions, and how a connection is ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/counters.h"
#include "transport/rdma/options.h"
#include "transport/rdma/private_data.h"
#include "transport/rdma/receive_pool.h"

namespace nfsrdma::rdma {

/// Something whose memory is lent to the provider with a Send. SendWork::context points to one.
class SendOwner {
 public:
  virtual void on_send_done() = 0;

 protected:
  ~SendOwner() = default;
};

/// Told by the link that the connection is to end.
class LinkObserver {
 public:
  /// Comes once, from within Link::end or when the provider reports the loss.
  virtual void on_link_ending(const Error& reason) = 0;

 protected:
  ~LinkObserver() = default;
};

class Link {
 public:
  Link(Reactor& reactor, const Options& options, ReceivePool& receives, Counters& counters,
       LinkObserver& observer)
      : reactor_(reactor),
        options_(options),
        receives_(receives),
        counters_(counters),
        observer_(observer) {}

  Reactor& reactor() { return reactor_; }
  const Options& options() const { return options_; }
  Counters& counters() { return counters_; }
  ReceivePool& receives() { return receives_; }
  fabric::Endpoint& endpoint() { return *endpoint_; }
  const Thresholds& thresholds() const { return thresholds_; }
  /// The provider's counters of this connection; none before there is one.
  void visit_provider(CounterVisitor& visitor) const {
    if (endpoint_) endpoint_->visit_counters(visitor);
  }

  void attach(std::unique_ptr<fabric::Endpoint> endpoint) { endpoint_ = std::move(endpoint); }
  void establish(const Thresholds& thresholds) { thresholds_ = thresholds; }

  /// Makes `forward` plus the backward grant receives posted (RFC 8167 section 4.3.1). False when
  /// the pool has no buffer to spare for a forward reply: as many as the backward grant are kept
  /// back, so that replies which someone still reads cannot starve callbacks.
  bool cover(std::size_t forward);
  /// How many callbacks hold their messages now: those come out of what is kept back.
  void hold_for_backward(std::size_t messages) { backward_held_ = messages; }
  std::size_t posted() const { return posted_; }
  /// Takes a message out of the provider's hands.
  Message& take_message(fabric::ReceiveBuffer& buffer);

  /// Posts one message. An error ends the connection; the memory stays lent until it is down.
  void post(const fabric::SendWork& work);

  bool ending() const { return reason_.has_value(); }
  /// Why the connection ends. Only while ending.
  const Error& reason() const { return *reason_; }
  /// Starts the end of the connection. Idempotent: the first reason stays.
  void end(Error reason);
  /// The provider has let go of everything.
  void down(const Error& reason);

 private:
  void note_ending(const Error& reason);
  bool post_receive();

  Reactor& reactor_;
  const Options& options_;
  ReceivePool& receives_;
  Counters& counters_;
  LinkObserver& observer_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
  Thresholds thresholds_;
  std::size_t posted_ = 0;
  std::size_t backward_held_ = 0;
  std::optional<Error> reason_;
};

}  // namespace nfsrdma::rdma
