// The RDMA provider interface. transport/rdma (the requester and the backward responder) and the
// test responder stand on it; iwarp and verbs implement it.
//
// Threading: everything here belongs to the reactor it was created with. A provider calls its
// handlers from that reactor, never from within a call into the provider. A handler may call any
// method of the endpoint, but must not destroy the endpoint: use Reactor::dispose.
//
// Ordering, as on a reliable connected queue pair (V1-2.3.2-2, -4): Sends arrive in posting order;
// a Send arrives after every RDMA Write posted before it has been placed; a lease named in a
// SendWork is valid at the peer before that Send can be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/net/address.h"
#include "transport/net/fault.h"
#include "transport/net/pace.h"

namespace nfsrdma::capture {
class Sink;
}

namespace nfsrdma::fabric {

using net::Address;
using net::as_loss;
using net::Fault;
using net::fault_name;
using net::message_can_cause;
using net::resolve;

/// A remote or local address of memory as it travels in a chunk: handle, length, offset
/// (RFC 8166 section 3.4.3).
struct Segment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
};

/// What the peer may do with leased memory.
enum class Access : std::uint8_t { remote_read, remote_write };

/// free -> prepared (lease) -> bound (a Send that names it was posted) -> invalidating -> free.
/// Every other transition is a defect of the caller and is asserted.
enum class LeaseState : std::uint8_t { free, prepared, bound, invalidating };

/// One exposure of local memory for one RPC (I3, V1-8.1.3-1). Embedded in pooled objects; a lease
/// must not be destroyed or reused unless its state is free.
struct Lease {
  LeaseState state = LeaseState::free;
  Access access = Access::remote_read;
  Segment segment;                   ///< what goes into the chunk list
  std::span<std::byte> memory;       ///< what it exposes
  std::uint32_t provider_index = 0;  ///< the provider's own
};

/// Memory for one incoming message. Owned by the consumer, lent to the provider from
/// post_receive to on_receive or on_disconnected (I1).
struct ReceiveBuffer : ListNode {
  std::span<std::byte> memory;
  bool posted = false;  ///< maintained by the provider
};

/// One message to the peer, gathered from pieces. The pieces and the memory they name must stay
/// untouched until on_send_done(context) or on_disconnected (I4).
struct SendWork {
  std::span<const std::span<const std::byte>> pieces;  ///< the array itself is copied
  std::span<Lease* const> leases;           ///< prepared leases that become bound with this Send
  std::optional<std::uint32_t> invalidate;  ///< Send with Invalidate of this peer handle
  void* context = nullptr;
  /// The peer answers this message, and the consumer calls Endpoint::answered when it has: the
  /// provider may leave out on_send_done until then, and so save a completion.
  bool answered = false;
  /// A provider that sends several messages together may keep an unhurried one.
  net::Pace pace = net::Pace::prompt;
  std::string_view comment = {};  ///< for a capture, of the packet that has it; copied
};

/// What both ends learned while connecting.
struct ConnectionInfo {
  std::span<const std::byte> peer_private_data;  ///< valid during the call only
  std::uint32_t ord = 0;                         ///< RDMA Reads this side may have outstanding
  std::uint32_t ird = 0;                         ///< RDMA Reads the peer may have outstanding here
  std::string_view description;                  ///< for logs: "iwarp MPA 2, CRC, 127.0.0.1:20049"
};

/// Called by the provider, on the reactor's thread.
class EndpointHandler {
 public:
  virtual ~EndpointHandler() = default;
  /// Initiator only: the connection is up and Sends may be posted.
  virtual void on_established(const ConnectionInfo& info) = 0;
  /// A message of `length` bytes is in `buffer`, which is the consumer's again. `invalidated` is
  /// the local handle that the peer invalidated with it, if any; its lease is still `bound` until
  /// the consumer calls Endpoint::invalidate.
  virtual void on_receive(ReceiveBuffer& buffer, std::size_t length,
                          std::optional<std::uint32_t> invalidated) = 0;
  /// A Send's memory is the consumer's again. May come after the reply to that Send (I4).
  virtual void on_send_done(void* context) = 0;
  /// A lease that invalidate() could not free at once is free now.
  virtual void on_invalidated(Lease& lease) = 0;
  /// Responder side: an RDMA Read completed; the data is in the memory given to post_read.
  virtual void on_read_done(void* context) = 0;
  /// The last call. No memory of this side is reachable any more; every lease is free, every
  /// receive buffer and every Send's memory is the consumer's again, without further calls.
  virtual void on_disconnected(const Error& reason) = 0;
};

/// One connection. A new connection is a new Endpoint: nothing is carried over.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Lends buffers for incoming messages, in order of use.
  virtual Result<void> post_receive(ReceiveBuffer& buffer) = 0;
  /// One message. Counts as one post however many leases it binds. An error means that the
  /// connection is going down; the work's memory stays lent until on_disconnected.
  virtual Result<void> post_send(const SendWork& work) = 0;
  /// An unhurried message that is kept goes at the end of this turn.
  virtual void hurry() {}
  /// The peer has answered the message that was sent with this context and SendWork::answered, so
  /// that it has all of it: what might be sent again, it will drop. True when that ends the Send
  /// now, without on_send_done; false when on_send_done has come or will come.
  virtual bool answered(void* /*context*/) { return false; }

  /// Prepares an exposure; nothing is visible to the peer before a Send binds it.
  virtual Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) = 0;
  /// Takes back a lease that no Send has bound.
  virtual void cancel(Lease& lease) = 0;
  /// Ends an exposure. Returns true when the lease is free on return, false when on_invalidated
  /// will say so. Local invalidation unless the peer has invalidated it already.
  virtual bool invalidate(Lease& lease) = 0;
  /// How many bytes at the start of a lease's memory the peer has placed by RDMA Write, without a
  /// gap; behind them is what lay there before. Nothing when the provider cannot know. For leases
  /// that are not free or invalidating.
  virtual std::optional<std::size_t> placed(const Lease& /*lease*/) const { return std::nullopt; }
  /// Whether the peer may be told that it can invalidate any handle we expose (RFC 8797 R bit).
  virtual bool remote_invalidation_safe() const = 0;

  /// Responder side: RDMA Write, gathered from pieces, to consecutive bytes of `to`. Local memory
  /// stays lent until on_send_done of a Send posted later, or on_disconnected.
  virtual Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                                  const Segment& to) = 0;
  /// Responder side: RDMA Read of from.length bytes into `into`. Queued beyond the negotiated
  /// ORD; completes in posting order with on_read_done(context).
  virtual Result<void> post_read(std::span<std::byte> into, const Segment& from, void* context) = 0;

  /// Starts an orderly close; on_disconnected follows (also when already closing). Idempotent.
  virtual void disconnect(Error reason) = 0;

  virtual void visit_counters(CounterVisitor& visitor) const = 0;
};

/// Parameters of a new endpoint.
struct EndpointOptions {
  std::span<const std::byte> private_data;  ///< copied
  std::uint32_t ird = 16;  ///< RDMA Reads we accept at once; never 0 (knfsd refuses 0)
  std::uint32_t ord = 16;
  Duration connect_timeout = std::chrono::seconds(15);
  bool crc = true;  ///< iwarp: ask for (and require) MPA CRC
  /// iwarp: FPDUs fit TCP segments of at most this many bytes, as on a network; 0: TCP's own.
  std::size_t max_segment = 0;
  capture::Sink* capture = nullptr;  ///< where to record the wire, or null; must outlive
};

/// A provider on one reactor.
class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual std::string_view name() const = 0;  ///< "iwarp", "verbs"
  /// Endpoint::remote_invalidation_safe of an endpoint that connects to `peer` now: what the
  /// private data says must be known before there is one.
  virtual bool remote_invalidation_safe(const Address& /*peer*/) { return false; }
  /// Makes a pool's memory usable for leases, Sends, Receives, Writes and Reads. The pool must
  /// outlive the fabric. No effect for providers that can use any memory.
  virtual Result<void> register_pool(BufferPool& pool) = 0;
  /// Starts connecting; handler.on_established or on_disconnected follows.
  virtual Result<std::unique_ptr<Endpoint>> connect(const Address& peer, EndpointHandler& handler,
                                                    const EndpointOptions& options) = 0;
};

/// The userspace iWARP provider: RFC 5040, 5041, 5044 and 6581 over one TCP socket a connection.
std::unique_ptr<Fabric> make_iwarp_fabric(Reactor& reactor);

}  // namespace nfsrdma::fabric
