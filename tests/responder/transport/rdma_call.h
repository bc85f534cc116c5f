// One call on its way through the responder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tests/responder/transport/read_plan.h"
#include "tests/responder/transport/receive_set.h"
#include "tests/responder/transport/reply_plan.h"
#include "tests/responder/transport/service_call.h"
#include "transport/rdma/header.h"

namespace nfsrdma::responder {

class RdmaConnection;

/// The owner of a posted Send's memory; the context of every SendWork of the responder.
class SendOwner {
 public:
  virtual void on_sent() = 0;

 protected:
  ~SendOwner() = default;
};

/// Pooled. begin, then one of refuse, accept, abandon; it puts itself back into the pool when
/// neither the service nor the provider holds any of its memory (I4, I5).
class RdmaCall final : public ServiceCall, public SendOwner {
 public:
  /// `reply_memory` has room for a transport header and the largest reply message.
  RdmaCall(Core& core, Buffer reply_memory);

  /// A message has arrived. The call keeps the receive until it is answered. Null: nothing has; the
  /// object sends a message of the responder's own.
  void begin(RdmaConnection& connection, Receive* receive);
  /// Sends an RDMA_OPTIONAL and ends.
  void send_optional(std::uint32_t xid, const rdma::RdmaOptional& optional);
  /// The transport header, to be decoded into by the connection.
  rdma::Header& transport_header() { return call_header_; }
  /// Answers RDMA_ERROR.
  void refuse(rdma::rpc_rdma_errcode error);
  /// The header is good and the message is a call; `stream` is its inline Payload stream.
  void accept(std::span<const std::byte> stream);
  /// Ends without an answer.
  void abandon();

  /// Fetches the Read chunks, then executes. Called again when what it awaits is there.
  void pull();
  bool may_pull() const;
  /// The responder answers again.
  /// Or those replies have gone out that had to be before this one.
  void resume() override;
  void on_read_done();
  void on_sent() override;
  /// The connection is gone; so is the provider's hold on memory. The service may still have it.
  void on_connection_lost(const std::shared_ptr<ReceiveSet>& receives);
  /// RDMA Reads are in flight: a broken connection may be this call's fault.
  bool pulling() const { return state_ == State::pulling; }
  std::uint32_t xid() const { return call_header_.rdma_xid; }

  // ServerCall
  Connection& connection() override;
  std::size_t max_reply() const override;
  void reply(rpc::AcceptStat status) override;
  void drop() override;

 private:
  enum class State : std::uint8_t {
    free,
    arrived,   ///< being looked at, or held until the responder is resumed or has memory
    pulling,   ///< Reads posted
    delayed,   ///< by a fault script, before it is executed
    serving,   ///< the service has it
    replying,  ///< answered by the service; perhaps delayed
    sending,   ///< Send posted
  };

  bool post_reads();
  void end_pull();
  void stream_complete();
  void decode_rpc_header();
  void note_operations();
  void execute();
  void dispatch();
  void begin_results();
  void finish_results(rpc::AcceptStat status);
  void send_reply();
  bool post_transfers();
  void send(std::span<const std::byte> header, const PieceList& message);
  std::optional<std::uint32_t> handle_to_invalidate() const;
  void return_receive();
  void release();

  RdmaConnection* connection_ = nullptr;
  Receive* receive_ = nullptr;
  std::shared_ptr<ReceiveSet> orphaned_receives_;  // keeps *receive_ when the connection is gone
  State state_ = State::free;

  rdma::Header call_header_;
  std::span<const std::byte> stream_;  // the reduced Payload stream
  ReadPlan reads_;
  Buffer pulled_;
  std::size_t reads_pending_ = 0;

  rdma::Header reply_header_;
  ReplyPlan plan_;
  std::uint32_t sends_pending_ = 0;
  std::size_t results_begin_ = 0;  // behind the RPC header of the reply

  Timer timer_;
};

}  // namespace nfsrdma::responder
