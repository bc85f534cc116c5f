// The calls that this side makes over a client's connection (RFC 8167).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/responder/transport/core.h"
#include "tests/responder/transport/rdma_call.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/header.h"

namespace nfsrdma::responder {

using BackwardDone = std::function<void(Result<xdr::Decoder>)>;

/// The backward direction of one connection: own XIDs, own credits (one until the client's first
/// reply says more). Inline messages without chunks only. Reactor's thread only.
class BackwardCalls {
 public:
  explicit BackwardCalls(Core& core) : core_(core) {}

  /// See Connection::call_back. `version` is the connection's, `largest` bounds
  /// header and message together.
  Result<void> call(fabric::Endpoint& endpoint, std::uint32_t version, std::size_t largest,
                    const CallbackTarget& target,
                    const std::function<void(xdr::Encoder&)>& encode_arguments, BackwardDone done);
  /// An RPC reply has arrived; `stream` starts with its XID. False: it answers nothing.
  bool on_reply(const rdma::Header& header, std::span<const std::byte> stream);
  /// An RDMA_ERROR has arrived. False: it answers nothing.
  bool on_error(const rdma::Header& header);
  /// Ends all open calls with `reason`.
  void on_connection_lost(const Error& reason);

  std::size_t open() const;

 private:
  /// Stays until both the reply has come and the Send has let go of it (I4).
  struct Message final : SendOwner {
    explicit Message(BackwardCalls& the_owner) : owner(the_owner) {}
    void on_sent() override;

    BackwardCalls& owner;
    Buffer memory;
    std::uint32_t xid = 0;
    BackwardDone done;  // empty once called
    bool sent = false;
  };

  Message* find_open(std::uint32_t xid);
  void finish(Message& message, Result<xdr::Decoder> result);
  void sweep();
  std::span<const std::byte> encode(Message& message, std::uint32_t version, std::size_t largest,
                                    const CallbackTarget& target,
                                    const std::function<void(xdr::Encoder&)>& encode_arguments);

  Core& core_;
  std::uint32_t credits_ = 1;
  std::uint32_t last_xid_ = 0;
  std::vector<std::unique_ptr<Message>> messages_;
};

}  // namespace nfsrdma::responder
