// Judges each record as it comes in and decides where its bytes go: the message to pooled memory,
// the DDP-eligible result of a Call straight to its result_sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/buffer.h"
#include "transport/base/undumped_bytes.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/pools.h"
#include "transport/tcp/record_reader.h"

namespace nfsrdma::tcp {

/// A result sink of at most this many bytes may be filled by copying: that is cheaper than a system
/// call of its own.
inline constexpr std::size_t kCopyAtMost = 16 * 1024;

/// Takes the messages of the receive path.
class MessageHandler {
 public:
  /// The open Call a reply belongs to, or null.
  virtual CallContext* find_open(std::uint32_t xid) = 0;
  /// The least offset of a payload in any reply to an open call whose sink is larger than
  /// kCopyAtMost; SIZE_MAX if there is none.
  virtual std::size_t least_payload_offset() const = 0;
  virtual void on_reply(CallContext& context, Received reply) = 0;
  virtual void on_call(std::uint32_t xid, Received call) = 0;
  /// There is memory again: the connection may go on reading.
  virtual void on_memory_free() = 0;

 protected:
  ~MessageHandler() = default;
};

class ReceivePath final : public RecordHandler, private BufferWaiter, private rpc::MessageWaiter {
 public:
  ReceivePath(MessageHandler& handler, Pools& pools, Counters& counters)
      : handler_(handler), pools_(pools), counters_(counters) {}

  // RecordHandler
  Checked<Place> place(std::size_t rest) override;
  Checked<> filled(std::size_t bytes, bool copied) override;
  Checked<> end_of_record() override;
  std::size_t lookahead() const override;

  /// The Call whose reply is being received, or null: to blame when the reply is malformed.
  CallContext* current() const { return context_; }
  /// A callback is being received.
  bool in_callback() const { return is_call_; }
  /// The connection is gone: lets go of everything.
  void clear();

 private:
  enum class Phase : std::uint8_t {
    head,     ///< bytes that describe the bytes behind them
    payload,  ///< of the result, to result_sink
    pad,      ///< behind the payload
    rest,     ///< the remainder of the message
    discard,  ///< a record of no open call
  };

  Checked<> decide();
  Checked<> identify();
  Checked<> locate();
  /// False: there is no memory now.
  Checked<bool> make_room(std::size_t bytes);
  void count_copy(std::size_t bytes);
  void reset();
  void on_buffer_available() override { handler_.on_memory_free(); }
  void on_message_free() override { handler_.on_memory_free(); }

  static constexpr std::size_t kScratch = 4096;
  /// XID and msg_type.
  static constexpr std::size_t kIdentity = 8;

  MessageHandler& handler_;
  Pools& pools_;
  Counters& counters_;
  Phase phase_ = Phase::head;
  CallContext* context_ = nullptr;
  Received received_;
  std::span<std::byte> memory_;  // where the message is put together
  std::size_t filled_ = 0;
  std::size_t wanted_ = kIdentity;  // bytes of the message that the next decision needs
  std::span<std::byte> payload_;
  std::size_t payload_filled_ = 0;
  std::size_t pad_left_ = 0;
  std::uint32_t xid_ = 0;
  bool is_call_ = false;
  UndumpedBytes scratch_{kScratch};  // takes bytes that are discarded
};

}  // namespace nfsrdma::tcp
