// The receiving half of DDP and RDMAP: judges every segment, says where its payload belongs, and
// acts on complete messages (RFC 5041 sections 5 to 7, RFC 5040 sections 4 to 7).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/intrusive_list.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/fpdu_reader.h"
#include "transport/fabric/iwarp/read_queue.h"
#include "transport/fabric/iwarp/stag_table.h"

namespace nfsrdma::fabric::iwarp {

/// Events of the connection from messages of the peer.
class ReceiveEvents {
 public:
  virtual ~ReceiveEvents() = default;
  virtual void on_first_fpdu() = 0;
  virtual void on_message(ReceiveBuffer& buffer, std::size_t length,
                          std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_read_requested() = 0;
  virtual void on_read_done(void* context) = 0;
  /// The last pin of an invalidating lease is gone.
  virtual void on_lease_released(Lease& lease) = 0;
  virtual void on_terminated(const TerminateCode& code) = 0;
};

class ReceivePath final : public UlpduConsumer {
 public:
  ReceivePath(StagTable::Owner owner, StagTable& stags, OutboundReads& reads, InboundReads& inbound,
              Counters& counters, ReceiveEvents& events)
      : owner_(owner),
        stags_(stags),
        reads_(reads),
        inbound_(inbound),
        counters_(counters),
        events_(events) {}

  void post(ReceiveBuffer& buffer);
  /// Gives every buffer back to its owner.
  void release_buffers();

  Checked<std::span<std::byte>> place(const DdpHeader& header, std::size_t length) override;
  Checked<> deliver(const DdpHeader& header, std::size_t length) override;

  /// The Read Request in progress or just refused, to be quoted in a Terminate message.
  std::span<const std::byte> read_request_header() const;

 private:
  using Place = Checked<std::span<std::byte>>;

  static constexpr std::size_t kControlSpace = 128;

  /// One message of an untagged queue, perhaps of several segments.
  struct Untagged {
    std::uint32_t msn = 1;     // of the message expected or in progress
    std::size_t received = 0;  // bytes of it
    Opcode opcode = Opcode::send;
  };

  Checked<> judge_header(const DdpHeader& header) const;
  Place place_write(const DdpHeader& header, std::size_t length);
  Place place_send(const DdpHeader& header, std::size_t length);
  Place place_control(const DdpHeader& header, std::size_t length, Untagged& queue);
  Checked<> judge_sequence(const DdpHeader& header, const Untagged& queue) const;
  Checked<> judge_offset(const DdpHeader& header, const Untagged& queue) const;

  Checked<> deliver_write(const DdpHeader& header, std::size_t length);
  Checked<> deliver_read_response(const DdpHeader& header, std::size_t length);
  Checked<> deliver_send(const DdpHeader& header, std::size_t length);
  Checked<> deliver_read_request(const DdpHeader& header, std::size_t length);
  Checked<> deliver_terminate(const DdpHeader& header, std::size_t length);
  Checked<> invalidate(const DdpHeader& header);
  void unpin();

  StagTable::Owner owner_;
  StagTable& stags_;
  OutboundReads& reads_;
  InboundReads& inbound_;
  Counters& counters_;
  ReceiveEvents& events_;
  IntrusiveList<ReceiveBuffer> buffers_;
  Untagged sends_;
  Untagged requests_;
  Untagged terminates_;
  StagTable::Index pinned_ = StagTable::kNoIndex;   // target of the RDMA Write segment in progress
  std::array<std::byte, kControlSpace> control_{};  // payload of queues 1 and 2
  std::size_t control_have_ = 0;
  bool any_fpdu_ = false;
};

}  // namespace nfsrdma::fabric::iwarp
