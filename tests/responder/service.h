// The line between the responder's transport (RPC-over-RDMA, faults) and its NFSv4.1 service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

/// CB_COMPOUND (RFC 5662).
inline constexpr std::uint32_t kCallbackCompound = 1;

/// The treatment of a reply that the slot should keep for a retry (RFC 8881 section 2.10.6.1.3).
enum class ReplyCache : std::uint8_t {
  kept,
  lost,     ///< not kept, though the client wanted it
  garbage,  ///< kept, and changed
};

/// The faults of one call at the service.
struct ServiceFaults {
  ReplyCache reply_cache = ReplyCache::kept;
  bool unstable_lost = false;  ///< an UNSTABLE4 WRITE does not survive a restart until COMMIT
};

/// The target of callbacks, from csa_cb_program and csa_sec_parms.
struct CallbackTarget {
  std::uint32_t program = 0;
  rpc::Credential credential{.flavor = rpc::AuthFlavor::none};
  std::string machine_name{};  ///< of AUTH_SYS
  std::uint32_t procedure = kCallbackCompound;
  std::size_t cut = SIZE_MAX;  ///< of the message, no more than so many bytes are sent
};

/// The connection a call came in on, as far as the service needs to know it. Valid until the
/// service's on_connection_closed.
class Connection {
 public:
  /// Set by the service: requests of a session have come over it. One without makes room for
  /// others when there are too many.
  bool serves_session = false;

  virtual std::uint64_t id() const = 0;  ///< never reused
  /// Calls the client over this connection (RFC 8167). `encode` writes the CB_COMPOUND arguments
  /// behind the RPC header; `done` gets the decoder at the results, or the error. Returns an error
  /// at once when the client's credits are used up or the connection is closing.
  virtual Result<void> call_back(const CallbackTarget& target,
                                 std::function<void(xdr::Encoder&)> encode,
                                 std::function<void(Result<xdr::Decoder>)> done) = 0;
  /// Bytes a callback and its reply may have.
  virtual std::size_t max_backward_message() const = 0;
  /// Breaks the connection; `why` is for the log. on_connection_closed comes later.
  virtual void disconnect(const char* /*why*/) {}

 protected:
  ~Connection() = default;
};

/// One call from a client. Owned by the transport; gone after reply() or drop().
class ServerCall {
 public:
  virtual const rpc::CallHeader& header() const = 0;
  /// At the procedure's arguments; Read chunks appear as placed payloads.
  virtual xdr::Decoder& arguments() = 0;
  /// Behind an accepted SUCCESS reply header. DDP-eligible results go in with Encoder::payload():
  /// the transport puts them into the call's Write chunks or inline.
  virtual xdr::Encoder& results() = 0;
  /// Memory for a result's data that stays until the reply has been sent. Null Buffer when none is
  /// left or size is above the largest slot.
  virtual std::span<std::byte> scratch(std::size_t size) = 0;
  virtual Connection& connection() = 0;
  /// Bytes of the longest RPC reply that the client can take without Write chunks; 0: not known.
  virtual std::size_t max_reply() const { return 0; }
  virtual void reply(rpc::AcceptStat status) = 0;
  /// Never answers (a fault script's doing).
  virtual void drop() = 0;
  /// The nfsstat4 a fault script wants this operation of the call to fail with, instead of being
  /// executed. To be asked once for each operation, after the ones before it succeeded.
  virtual std::optional<std::uint32_t> forced_status(std::uint32_t /*operation*/) const {
    return std::nullopt;
  }
  virtual ServiceFaults service_faults() const { return {}; }

 protected:
  ~ServerCall() = default;
};

/// The RPC program behind the transport. Called on the reactor's thread.
class Service {
 public:
  virtual ~Service() = default;
  /// Handles a call of program 100003 version 4; may reply now or later.
  virtual void handle(ServerCall& call) = 0;
  virtual void on_connection_closed(Connection& connection) = 0;
};

}  // namespace nfsrdma::responder
