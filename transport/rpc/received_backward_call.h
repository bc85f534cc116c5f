// A callback that has arrived: the part common to every transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/log_limit.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::rpc {

/// The transports' callbacks derive from it: they add the sending of the reply. It holds the
/// message the callback came in until it is answered (I2).
class ReceivedBackwardCall : public BackwardCall {
 public:
  const CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }

 protected:
  ~ReceivedBackwardCall() = default;

  /// `call` lies in `message`, which may be null when there is none; the reply is encoded into
  /// `reply`.
  void receive(std::uint32_t xid, std::span<const std::byte> call, MessageRef message,
               std::span<std::byte> reply);
  /// Decodes the RPC header, then hands the call on or answers it. `lines` bounds the log lines
  /// about calls that cannot be decoded.
  void dispatch(ChannelObserver& observer, log::Limit& lines, TimePoint now);
  /// Completes the reply, and lets go of the message.
  void finish(AcceptStat status);
  void drop_message() { message_.reset(); }

 private:
  MessageRef message_;
  CallHeader header_;
  xdr::Decoder arguments_;
  xdr::Encoder results_;
};

}  // namespace nfsrdma::rpc
