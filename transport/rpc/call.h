// One outgoing RPC: its encoded call, the memory it lends to the server, and its reply.
//
// A Call is pooled and reused. It keeps its encoded bytes until it is released, so that it can be
// sent again, with the same XID, slot and sequence number, on another connection (V1-4.5.5-1).
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/net/pace.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rpc {

/// Memory that holds a received message; goes back to its transport when the last Reply that views
/// it lets go, whatever became of the connection.
class MessageBuffer {
 public:
  virtual void release() = 0;

 protected:
  ~MessageBuffer() = default;
};

struct ReleaseMessage {
  void operator()(MessageBuffer* buffer) const { buffer->release(); }
};
using MessageRef = std::unique_ptr<MessageBuffer, ReleaseMessage>;

/// A received reply whose RPC header was accepted (MSG_ACCEPTED, SUCCESS). `results` stands at the
/// procedure's results; its views stay valid as long as the Reply lives.
struct Reply {
  MessageRef message;
  std::optional<Buffer> reply_chunk;  ///< holds the message of a Long Reply
  xdr::Decoder results;
};

/// Order in the transport's queue.
enum class Urgency : std::uint8_t {
  ordinary,
  reserved,  ///< recovery, renewal, callbacks: goes first, and may use the credit kept back
};

class Call;

/// Told when a Call has ended: it has a reply or an error, and none of its memory is exposed (I3).
class CallObserver {
 public:
  virtual void on_call_done(Call& call) = 0;

 protected:
  ~CallObserver() = default;
};

/// Connections that were lost while a call was sent and not answered.
struct ConnectionLosses {
  std::uint32_t total = 0;
  /// How often in succession with the same net::Fault, one that a message can cause (a reply
  /// that fits no receive buffer, an access error, a malformed reply); a connection that is merely
  /// closed or reset does not count.
  std::uint32_t same_fault = 0;
  int last_fault = 0;

  /// The call may have caused this loss.
  void blame(int fault) {
    same_fault = last_fault == fault ? same_fault + 1 : 1;
    last_fault = fault;
  }
};

/// When a call was where, by Reactor::now(); of its last submission. Zero: it did not come so far.
struct CallTimes {
  TimePoint submitted{0};  ///< given to the channel; noted by its submitter
  TimePoint sent{0};       ///< its turn had come (with RDMA: it had a credit), and it was posted
  TimePoint replied{0};    ///< its reply was here, or its connection lost
  TimePoint completed{0};  ///< nothing that it lent was in use any more (I3)
};

/// Where the DDP-eligible result lies in the RPC message of a reply: for transports that carry it
/// in the message (TCP), so that they can receive it straight into Call::result_sink.
struct PayloadPlace {
  enum class Kind : std::uint8_t {
    unknown,  ///< `bytes` bytes of the message are needed to tell, more than there were
    found,    ///< `length` bytes at offset `bytes`, pad not included
    absent,   ///< the message has none
  };
  Kind kind = Kind::absent;
  std::size_t bytes = 0;
  std::uint32_t length = 0;
};

/// How the result of a procedure is found. A value of static storage.
struct PayloadLocator {
  /// No payload of any reply to any call begins before this offset.
  std::size_t least_offset = 0;
  /// Looks at the first bytes of a reply; a bounded number of them is always enough.
  PayloadPlace (*locate)(std::span<const std::byte> head) = nullptr;
};

/// What a capture says of a call that was sent before (ConnectionLosses::total).
inline constexpr std::string_view kSentAgain =
    "sent again: a connection was lost before the answer came";

/// Losses of the same kind after which a call is not sent again.
inline constexpr std::uint32_t kMaxSameLosses = 2;

/// See the head of this file. Filled in by the client, read by a transport. Belongs to one shard.
class Call : public ListNode {
 public:
  /// `head` is registered memory for the encoded call.
  explicit Call(Buffer head) : head_(std::move(head)) { reset(0); }

  /// Makes the call empty, with a new XID, and ready to be encoded.
  void reset(std::uint32_t new_xid) {
    xid = new_xid;
    encoder = xdr::Encoder(head_.bytes());
    result_sink = {};
    sink_pad = 0;
    locator = nullptr;
    max_reply = 0;
    urgency = Urgency::ordinary;
    pace = net::Pace::prompt;
    reply.reset();
    observer = nullptr;
    losses = {};
    blameless = false;
    times = {};
    invalidated.reset();
    keep_alive_.reset();
  }

  std::uint32_t xid = 0;
  /// Holds the RPC header and the arguments without their DDP-eligible items.
  xdr::Encoder encoder;
  /// Where the one DDP-eligible result may be placed by the transport, or empty. Registered memory;
  /// must stay the call's until it has ended (V1-3.4.6-2: at least as large as the result can be).
  std::span<std::byte> result_sink;
  /// Bytes behind result_sink that may be overwritten: some servers place the result's XDR pad,
  /// too, which a result of odd length would else have no room for.
  std::size_t sink_pad = 0;
  /// Tells where the result begins in the message; null: it is left there when it comes inline.
  const PayloadLocator* locator = nullptr;
  /// Upper bound of the reply's RPC message in bytes, without the bytes of the DDP-eligible
  /// result. Decides whether a Reply chunk is needed (V1-4.3.3-1).
  std::size_t max_reply = 0;
  Urgency urgency = Urgency::ordinary;
  /// Once its turn has come.
  net::Pace pace = net::Pace::prompt;
  /// Empty until the call has ended.
  std::optional<Result<Reply>> reply;
  CallObserver* observer = nullptr;
  /// Maintained by the transport over all submissions of this call.
  ConnectionLosses losses;
  /// Not to blame where it is only one of those that were open: it need not go by itself.
  bool blameless = false;
  CallTimes times;
  /// The handle that the peer has invalidated with its reply; for captures.
  std::optional<std::uint32_t> invalidated;

  /// The call has twice ended its connection in the same way: it must not be sent a third time.
  bool is_poison() const { return losses.same_fault >= kMaxSameLosses; }
  /// The call may have ended a connection. Transports send it while nothing else ordinary is open,
  /// so that a second loss is this call's doing and no other call suffers for it.
  bool isolated() const { return losses.same_fault > 0; }

  /// What is offered for the result: result_sink with its pad.
  std::span<std::byte> placement() const {
    return {result_sink.data(), result_sink.size() + sink_pad};
  }

  std::span<const std::byte> head_memory() const { return head_.bytes(); }
  std::span<std::byte> head_memory() { return head_.bytes(); }

  /// Keeps a buffer (the memory of an argument or of result_sink) until the call is reset.
  void keep(Buffer buffer) { keep_alive_ = std::move(buffer); }
  Buffer* kept() { return keep_alive_ ? &*keep_alive_ : nullptr; }

 private:
  Buffer head_;
  std::optional<Buffer> keep_alive_;
};

}  // namespace nfsrdma::rpc
