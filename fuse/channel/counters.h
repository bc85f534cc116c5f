// The counters of a FUSE session.
#pragma once

#include <array>

#include "fuse/channel/kernel_channel.h"
#include "fuse/channel/opcode.h"
#include "transport/base/metrics.h"

namespace nfsrdma::fuse {

/// Written by the session's thread, readable from any.
struct ChannelCounters {
  Counter device_reads;       ///< read(2) calls on /dev/fuse that brought a request
  Counter device_idle;        ///< read(2) calls that found none
  Counter device_writes;      ///< writev(2) calls that answered a request
  Counter ring_entries;       ///< places for requests given to FUSE's io_uring; 0: /dev/fuse alone
  Counter ring_requests;      ///< requests that came over it
  Counter ring_answers;       ///< answers that went over it
  Counter ring_enters;        ///< io_uring_enter(2) calls
  Counter ring_bytes_copied;  ///< between its memory and that of requests
  Counter ring_slots_kept;    ///< slots of its entries that an operation kept after the answer
  Counter replies_unwanted;   ///< answers the kernel no longer wanted (ENOENT)
  Counter replies_failed;     ///< answers the kernel refused for another reason
  Counter replies_after_abort;  ///< answers to requests that had been answered EINTR
  Counter malformed;            ///< requests that are shorter than they have to be
  Counter unanswered;           ///< operations that ended without an answer: a defect of ours
  Counter interrupts;           ///< INTERRUPT requests that met their request
  Counter interrupted;          ///< requests answered EINTR because their caller is being killed
  Counter left_behind;          ///< requests answered because their caller is gone, or exits
  Counter timed_out;            ///< requests answered because the server has not (soft, softerr)
  Counter slots_taken;          ///< receive slots handed over to an operation (WRITE)
  Counter slot_stalls;          ///< times receiving stopped for want of a slot
  std::array<Counter, kOpcodes> requests;  ///< received, by opcode; the last one is "other"

  void count_request(std::uint32_t opcode);
  /// An answer was given to this channel's kernel.
  void count_answer(const KernelChannel& channel);
  /// Names start with "fuse_"; requests are "fuse_requests_<opcode>", those received only.
  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::fuse
