// One call on its way through the responder that came over TCP.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/responder/transport/service_call.h"

namespace nfsrdma::responder {

class TcpCalls;
class TcpConnection;

/// Pooled. begin, then it puts itself back into the pool when neither the service nor the socket
/// needs any of its memory.
class TcpCall final : public ServiceCall {
 public:
  TcpCall(Core& core, TcpCalls& pool, Buffer reply_memory);

  /// A record with a call is complete: the first `length` bytes of `record`.
  void begin(TcpConnection& connection, Buffer record, std::size_t length);
  /// The socket has taken a copy of the reply.
  void on_sent();
  /// The connection is gone. The service may still have the call.
  void on_connection_lost();

  // HeldCall
  void resume() override;

  // ServerCall
  Connection& connection() override;
  std::size_t max_reply() const override;
  void reply(rpc::AcceptStat status) override;
  void drop() override;

 private:
  enum class State : std::uint8_t {
    free,
    held,      ///< until the responder is resumed
    delayed,   ///< by a fault script, before it is executed
    serving,   ///< the service has it
    replying,  ///< answered by the service; perhaps delayed
    sending,   ///< the socket has it
  };

  void execute();
  void refuse_header(const Error& error);
  void send_reply();
  void send_spoiled();
  std::vector<std::byte> flatten() const;
  void release();

  TcpCalls& pool_;
  TcpConnection* connection_ = nullptr;
  State state_ = State::free;
  Buffer record_;
  std::uint32_t xid_ = 0;
  std::size_t results_begin_ = 0;  // behind the RPC header of the reply
  unsigned sends_pending_ = 0;
  Timer timer_;
};

/// The calls of all TCP connections of one responder.
class TcpCalls {
 public:
  explicit TcpCalls(Core& core) : core_(core) {}

  /// Null when as many are in use as there are reply buffers.
  TcpCall* acquire();
  void release(TcpCall& call) { free_.push_back(&call); }

 private:
  Core& core_;
  std::vector<std::unique_ptr<TcpCall>> calls_;
  std::vector<TcpCall*> free_;
};

}  // namespace nfsrdma::responder
