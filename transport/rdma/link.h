// Shared by requester and backward responder of one connection: the endpoint, the receive buffers
// behind both directions, and the end of the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/counters.h"
#include "transport/rdma/header.h"
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

/// Told by the link to end the connection.
class LinkObserver {
 public:
  /// Comes once, from within Link::end or when the provider reports the loss.
  virtual void on_link_ending(const Error& reason) = 0;
  /// The last receive smaller than Link::raise_receive_size() said has been used up.
  virtual void on_receives_raised() = 0;

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
        observer_(observer),
        raised_later_(reactor, [this] { observer_.on_receives_raised(); }) {}

  Reactor& reactor() { return reactor_; }
  const Options& options() const { return options_; }
  Counters& counters() { return counters_; }
  ReceivePool& receives() { return receives_; }
  fabric::Endpoint& endpoint() { return *endpoint_; }
  /// Endpoint::hurry.
  void hurry() { endpoint_->hurry(); }
  const Thresholds& thresholds() const { return thresholds_; }
  /// rdma_vers of every message of this connection, in both directions (BD-17).
  std::uint32_t version() const { return version_; }
  /// The provider's counters of this connection; none before there is one.
  void visit_provider(CounterVisitor& visitor) const {
    if (endpoint_) endpoint_->visit_counters(visitor);
  }

  void attach(std::unique_ptr<fabric::Endpoint> endpoint) { endpoint_ = std::move(endpoint); }
  /// Version and thresholds of the next message; may change while the connection lives (V2-5.2-6).
  void establish(std::uint32_t version, const Thresholds& thresholds) {
    version_ = version;
    thresholds_ = thresholds;
  }

  /// Bytes of each receive that is posted from now on; never less than before. Returns whether no
  /// smaller one is posted; else LinkObserver::on_receives_raised follows.
  bool raise_receive_size(std::size_t size);

  /// Makes `forward` plus the backward grant receives posted (RFC 8167 section 4.3.1), and where
  /// version 2 may be spoken those for RDMA_OPTIONAL and its errors (F-14). False when the pool has
  /// no buffer to spare for a forward reply: as many as the backward grant are kept back, so that
  /// replies still being read cannot starve callbacks.
  bool cover(std::size_t forward);
  /// How many callbacks hold their messages now: those are taken from the reserve.
  void hold_for_backward(std::size_t messages) { backward_held_ = messages; }
  std::size_t posted() const { return posted_; }
  /// Takes a message out of the provider's hands.
  Message& take_message(fabric::ReceiveBuffer& buffer);

  /// Posts one message of a kind. An error ends the connection; the memory stays lent until it is
  /// down.
  void post(const fabric::SendWork& work, rdma_proc kind);

  bool ending() const { return reason_.has_value(); }
  /// Why the connection ends. Only while ending.
  const Error& reason() const { return *reason_; }
  /// Starts the end of the connection. Idempotent: the first reason stays.
  void end(Error reason);
  /// The provider uses no memory of the connection any more.
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
  std::uint32_t version_ = kVersionOne;
  Thresholds thresholds_;
  std::size_t receive_size_ = 0;  // 0: nothing has been said, all of a buffer
  std::size_t posted_ = 0;
  std::size_t small_posted_ = 0;  // of them, smaller than receive_size_
  std::size_t backward_held_ = 0;
  std::optional<Error> reason_;
  Deferred raised_later_;  // the message that used the receive up is looked at first
};

}  // namespace nfsrdma::rdma
