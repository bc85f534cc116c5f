// The sending half of a connection: chooses the next message, cuts it into DDP segments and FPDUs
// of the negotiated size, writes them, and says what is complete (RFC 5041 section 5, RFC 5044
// section 4).
//
// Read Requests go first, for they are short and start work at the peer; after that RDMA Read
// Responses and the send queue take turns, message by message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/read_queue.h"
#include "transport/fabric/iwarp/send_queue.h"
#include "transport/fabric/iwarp/terminate.h"
#include "transport/net/byte_stream.h"

namespace nfsrdma::fabric::iwarp {

/// The largest ULPDU for a TCP segment size: FPDUs that fill a segment and need no pad (RFC 5044
/// section 4.3, without markers).
std::size_t largest_ulpdu(std::size_t tcp_segment);

enum class FlushStatus {
  idle,     ///< nothing is left to write
  blocked,  ///< the socket takes no more now
  more,     ///< the share of this turn is used up
  failed,   ///< see error()
};

class Transmitter {
 public:
  Transmitter(SendQueue& sends, OutboundReads& reads, InboundReads& responses, Counters& counters)
      : sends_(sends), reads_(reads), responses_(responses), counters_(counters) {}

  void configure(std::size_t ulpdu_limit, bool crc);
  /// Bytes to go ahead of every FPDU.
  void send_startup(std::span<const std::byte> frame) { batch_.add_startup(frame); }
  /// While held, FPDUs wait: an MPA responder must not send before the initiator has (RFC 5044
  /// section 7.1.2).
  void hold(bool held) { held_ = held; }
  /// Gives up all messages but the FPDU that is partly written, and sends this after it.
  void terminate(const TerminatePayload& payload);

  FlushStatus flush(net::ByteStream& stream);
  int error() const { return error_; }
  /// Whether a flush would have something to do.
  bool has_work();
  void clear();

 private:
  struct Message {
    DdpHeader header;
    std::uint64_t length = 0;
    std::uint64_t done = 0;
    std::size_t piece = 0;  // of a send queue entry
    std::size_t piece_offset = 0;
    enum class Kind { none, send, response } kind = Kind::none;
  };

  void fill();
  bool choose_message();
  void start_send(const SendEntry& entry);
  void start_response(const InboundRead& read);
  void frame_segment();
  void frame_read_request();
  std::size_t segment_length(const SendEntry* entry) const;
  void add_send_payload(const SendEntry& entry, std::size_t length);
  void finish_message();

  SendQueue& sends_;
  OutboundReads& reads_;
  InboundReads& responses_;
  Counters& counters_;
  FpduBatch batch_;
  Message message_;
  std::size_t ulpdu_limit_ = 0;
  std::uint32_t send_msn_ = 0;          // of the last Send
  std::uint32_t read_request_msn_ = 0;  // of the last Read Request
  bool response_next_ = true;
  bool held_ = false;
  bool terminating_ = false;
  int error_ = 0;
};

}  // namespace nfsrdma::fabric::iwarp
