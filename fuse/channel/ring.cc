#include "fuse/channel/ring.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace nfsrdma::fuse {
namespace {

/// Commands that one enter() submits.
constexpr unsigned kSubmissions = 256;

}  // namespace

Result<std::unique_ptr<Ring>> Ring::create(int device, unsigned entries) {
  std::unique_ptr<Ring> ring(new Ring(device));
  io_uring_params parameters{};
  // Without DEFER_TASKRUN the kernel would deliver requests by interrupting whatever this thread
  // waits in. Without CLAMP it would refuse more completions than it has room for (65536), which
  // more than 256 processors ask for; those that find no room come with the next enter().
  parameters.flags = IORING_SETUP_SQE128 | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP |
                     IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                     IORING_SETUP_TASKRUN_FLAG;
  parameters.cq_entries = std::max(entries, 2 * kSubmissions);
  const int failed = io_uring_queue_init_params(kSubmissions, &ring->ring_, &parameters);
  if (failed != 0) return fail(Error::from_errno(-failed, "io_uring_setup"));
  ring->made_ = true;
  // A child that has its memory mapped keeps the ring, and so the connection, after this program.
  const int forked = io_uring_ring_dontfork(&ring->ring_);
  if (forked != 0) return fail(Error::from_errno(-forked, "io_uring memory"));
  ring->event_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int registered =
      ring->event_ ? io_uring_register_eventfd(&ring->ring_, ring->event()) : -errno;
  if (registered != 0) return fail(Error::from_errno(-registered, "io_uring eventfd"));
  return ring;
}

Ring::~Ring() {
  if (made_) io_uring_queue_exit(&ring_);
}

bool Ring::prepare(RingCommand command, const RingCommandArguments& arguments,
                   std::span<const iovec> memory, void* user) {
  io_uring_sqe* const submission = io_uring_get_sqe(&ring_);
  if (!submission) return false;
  io_uring_prep_rw(IORING_OP_URING_CMD, submission, device_, memory.data(),
                   static_cast<unsigned>(memory.size()), 0);
  submission->cmd_op = static_cast<std::uint32_t>(command);
  // liburing declares the command's place with no room: it is in the second half of 128 bytes.
  std::memcpy(reinterpret_cast<std::byte*>(submission) + offsetof(io_uring_sqe, cmd), &arguments,
              sizeof arguments);
  io_uring_sqe_set_data(submission, user);
  return true;
}

bool Ring::enter() {
  // Completions within the call are seen after it: the eventfd is for later ones.
  io_uring_cq_eventfd_toggle(&ring_, false);
  io_uring_submit_and_get_events(&ring_);
  io_uring_cq_eventfd_toggle(&ring_, true);
  return io_uring_sq_ready(&ring_) == 0;
}

/// The kernel sets its flag first, and then looks whether the eventfd is wanted. Changing nothing
/// is a read that does not come before the write which wants it; ThreadSanitizer knows no fence.
bool Ring::missed_event() const {
  const std::atomic_ref flags(*ring_.sq.kflags);
  return (flags.fetch_or(0, std::memory_order_seq_cst) & IORING_SQ_TASKRUN) != 0;
}

io_uring_cqe* Ring::next_completion() {
  io_uring_cqe* completion = nullptr;
  unsigned head = 0;
  io_uring_for_each_cqe(&ring_, head, completion) return completion;
  return nullptr;
}

}  // namespace nfsrdma::fuse
