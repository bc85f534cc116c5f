// A byte stream in a capture: TCP segments that a dissector can follow.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/capture/flow.h"
#include "transport/capture/message_bounds.h"
#include "transport/capture/pcapng_file.h"
#include "transport/capture/tcp_segment.h"

namespace nfsrdma::capture {

/// Opening it writes the three-way handshake, destroying it the closing segments.
///
/// In each further file of a ring it goes on with a whole message; what is left of one when the
/// file changes goes to the file before. Of iWARP, dissectors need the handshake and the startup
/// frames: both are repeated in each file, before a gap in the sequence that shows that the
/// connection has begun earlier.
class TcpFlow final : public Flow {
 public:
  /// `file` outlives it. `initiator`: the local side connected.
  TcpFlow(PcapngFile& file, const sockaddr& local, const sockaddr& peer, bool initiator,
          Carried carried);
  ~TcpFlow() override;

  void sent(std::span<const iovec> pieces, std::size_t bytes) override;
  void received(std::span<const iovec> pieces, std::size_t bytes) override;
  void comment(std::string text) override { comment_ = std::move(text); }

 private:
  using Number = PcapngFile::Number;
  using Parts = std::vector<std::span<const std::byte>>;

  struct Side {
    Side(const sockaddr& address, Carried carried) : end(make_end(address)), bounds(carried) {}
    End end;
    MessageBounds bounds;
    Number number = 0;               // of the file that this direction is in
    std::uint32_t sequence = 0;      // the next, in the file where the flow has begun last
    std::uint32_t old_sequence = 0;  // in the one before, of Carried::mpa
  };

  void record_stream(Side& from, Side& to, std::span<const iovec> pieces, std::size_t bytes);
  void record_in_ring(Side& from, Side& to, std::span<const std::byte> bytes);
  void record_bytes(Side& from, Side& to, const Parts& parts);
  void record(Number number, Side& from, Side& to, std::uint8_t flags, Parts payload);
  void move_on(Side& side);
  void begin_in(Number number);
  void handshake(Number number);
  std::uint32_t& sequence_of(Side& side, Number number) const {
    const bool old = carried_ == Carried::mpa && number != begun_;
    return old ? side.old_sequence : side.sequence;
  }

  PcapngFile& file_;
  const Carried carried_;
  /// The first sequence number of both sides. A SYN with that of an earlier connection of the same
  /// ports would be taken for a retransmission, and all behind it for that connection's.
  const std::uint32_t first_;
  Side local_;
  Side peer_;
  Side& initiator_;
  Side& responder_;
  Number begun_ = 0;  // the file where the flow has begun last
  std::string comment_;
};

}  // namespace nfsrdma::capture
