#include <liburing.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>

#include "fuse/channel/ring_format.h"
#include "tests/bench/relay/loops.h"
#include "tests/bench/relay/relay.h"

namespace nfsrdma::bench::relay {
namespace {

using Clock = std::chrono::steady_clock;
using fuse::RingCommand;
using fuse::RingCommandArguments;
using fuse::RingHeaders;

/// Requests of one queue that are here at once.
constexpr std::size_t kEntries = 64;
constexpr unsigned kSubmissions = 256;
/// Room in the socket, so that what is asked in small messages never waits for it.
constexpr int kSendRoom = 4 << 20;
constexpr std::size_t kSurelyTaken = std::size_t{128} << 10;

/// One place for a request, and for its answer.
struct Entry {
  RingHeaders headers{};
  std::array<iovec, 2> memory{};
  std::uint16_t queue = 0;
  std::byte* payload() const { return static_cast<std::byte*>(memory[1].iov_base); }
};

/// One call on the socket at a time in each direction.
struct Transfer {
  bool under_way = false;
  Parts parts;
  msghdr message{};

  msghdr* prepare() {
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.count();
    return &message;
  }
};

class RingLoop final : public Channel {
 public:
  explicit RingLoop(const Waiting& waiting)
      : waiting_(waiting), relay_(*this, std::make_unique<PlainLink>(), false) {}
  RingLoop(const RingLoop&) = delete;
  RingLoop& operator=(const RingLoop&) = delete;
  ~RingLoop();
  int run();

 private:
  void reply(const Passage& passage, int error, std::span<const std::byte> structure,
             std::size_t data) override;
  void give_back(std::byte*) override {}
  bool keeps_data_after_reply() const override { return false; }

  bool create();
  void register_entries();
  void command(RingCommand what, Entry& entry, std::uint64_t commit_id);
  io_uring_sqe* submission();
  void send();
  void receive();
  void wait();
  void look();
  void completed(void* user, int result);
  void request(Entry& entry);
  void end(const char* what, int error);

  const Waiting waiting_;
  Relay relay_;
  io_uring ring_{};
  bool made_ = false;
  std::size_t memory_size_ = 0;
  void* memory_ = MAP_FAILED;
  std::deque<Entry> entries_;
  Transfer sending_;
  Transfer receiving_;
  int status_ = -1;  ///< what run() returns; -1: it goes on
};

RingLoop::~RingLoop() {
  if (made_) io_uring_queue_exit(&ring_);
  if (memory_ != MAP_FAILED) ::munmap(memory_, memory_size_);
}

bool RingLoop::create() {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_SQE128 | IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
                     IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
  parameters.cq_entries = 4 * kSubmissions;
  errno = -io_uring_queue_init_params(kSubmissions, &ring_, &parameters);
  if (errno != 0) return false;
  made_ = true;
  // Beyond the system's limit as root only; else as much as that permits.
  ::setsockopt(waiting_.socket, SOL_SOCKET, SO_SNDBUFFORCE, &kSendRoom, sizeof kSendRoom);
  const auto queues = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF));
  memory_size_ = queues * kEntries * kMostData;
  memory_ = ::mmap(nullptr, memory_size_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) return false;
  for (std::size_t i = 0; i < queues * kEntries; ++i) {
    Entry& entry = entries_.emplace_back();
    entry.queue = static_cast<std::uint16_t>(i / kEntries);
    entry.memory = {iovec{&entry.headers, sizeof entry.headers},
                    iovec{static_cast<std::byte*>(memory_) + i * kMostData, kMostData}};
    command(RingCommand::add_entry, entry, 0);
  }
  return true;
}

io_uring_sqe* RingLoop::submission() {
  io_uring_sqe* made = io_uring_get_sqe(&ring_);
  if (made) return made;
  io_uring_submit(&ring_);
  return io_uring_get_sqe(&ring_);
}

void RingLoop::command(RingCommand what, Entry& entry, std::uint64_t commit_id) {
  io_uring_sqe* const made = submission();
  const bool adds = what == RingCommand::add_entry;
  io_uring_prep_rw(IORING_OP_URING_CMD, made, waiting_.device, adds ? entry.memory.data() : nullptr,
                   adds ? entry.memory.size() : 0, 0);
  made->cmd_op = static_cast<std::uint32_t>(what);
  const RingCommandArguments arguments{.commit_id = commit_id, .queue = entry.queue};
  std::memcpy(reinterpret_cast<std::byte*>(made) + offsetof(io_uring_sqe, cmd), &arguments,
              sizeof arguments);
  io_uring_sqe_set_data(made, &entry);
}

int RingLoop::run() {
  if (!create()) end("io_uring", errno);
  while (status_ < 0) {
    send();
    receive();
    wait();
    io_uring_cqe* completion = nullptr;
    while (io_uring_peek_cqe(&ring_, &completion) == 0) {
      void* const user = io_uring_cqe_get_data(completion);
      const int result = completion->res;
      io_uring_cqe_seen(&ring_, completion);
      completed(user, result);
    }
  }
  return status_;
}

/// One message at a time. A small one is taken at once: its completion would only end the wait for
/// the answer.
void RingLoop::send() {
  if (sending_.under_way || !relay_.link().has_unsent()) return;
  relay_.link().gather_unsent(sending_.parts);
  io_uring_sqe* const made = submission();
  io_uring_prep_sendmsg(made, waiting_.socket, sending_.prepare(), MSG_NOSIGNAL | MSG_WAITALL);
  io_uring_sqe_set_data(made, &sending_);
  if (relay_.behind() == 0 && relay_.link().unanswered() <= kSurelyTaken) {
    io_uring_sqe_set_flags(made, IOSQE_CQE_SKIP_SUCCESS);
    relay_.sent(sending_.parts.bytes());
  } else {
    sending_.under_way = true;
  }
}

void RingLoop::receive() {
  if (receiving_.under_way) return;
  const bool whole = relay_.link().gather_expected(receiving_.parts);
  if (receiving_.parts.bytes() == 0) return;
  io_uring_sqe* const made = submission();
  io_uring_prep_recvmsg(made, waiting_.socket, receiving_.prepare(), whole ? MSG_WAITALL : 0);
  io_uring_sqe_set_data(made, &receiving_);
  receiving_.under_way = true;
}

void RingLoop::wait() {
  if (waiting_.looking_microseconds > 0) look();
  const int result = io_uring_submit_and_wait(&ring_, 1);
  if (result < 0 && result != -EINTR) end("io_uring_enter", -result);
}

/// Without a system call: the kernel sets a flag when it has something to deliver.
void RingLoop::look() {
  if (io_uring_sq_ready(&ring_) > 0) io_uring_submit_and_get_events(&ring_);
  const auto end = Clock::now() + std::chrono::microseconds(waiting_.looking_microseconds);
  const auto has_come = [this] {
    return (IO_URING_READ_ONCE(*ring_.sq.kflags) & IORING_SQ_TASKRUN) != 0 ||
           io_uring_cq_ready(&ring_) > 0;
  };
  while (!has_come() && Clock::now() < end) {
  }
}

void RingLoop::completed(void* user, int result) {
  if (user == &sending_) {
    if (result < 0) return end("send", -result);
    sending_.under_way = false;
    return relay_.sent(static_cast<std::size_t>(result));
  }
  if (user == &receiving_) {
    if (result <= 0) return end("receive", result == 0 ? ECONNRESET : -result);
    receiving_.under_way = false;
    relay_.received(static_cast<std::size_t>(result));
    return;
  }
  if (result < 0) return end("/dev/fuse", result == -ENOTCONN ? 0 : -result);
  request(*static_cast<Entry*>(user));
}

void RingLoop::request(Entry& entry) {
  Request made;
  std::memcpy(&made.header, entry.headers.in_out, sizeof made.header);
  made.structure = entry.headers.structure;
  made.rest = {entry.payload(), std::min<std::size_t>(entry.headers.payload_size, kMostData)};
  made.place = reinterpret_cast<std::byte*>(&entry);
  made.data = entry.payload();
  relay_.take(made);
}

void RingLoop::reply(const Passage& passage, int error, std::span<const std::byte> structure,
                     std::size_t data) {
  Entry& entry = *reinterpret_cast<Entry*>(passage.place);
  std::memcpy(entry.payload(), structure.data(), structure.size());
  entry.headers.payload_size = static_cast<std::uint32_t>(structure.size() + data);
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + entry.headers.payload_size);
  header.error = -error;
  header.unique = passage.unique;
  std::memcpy(entry.headers.in_out, &header, sizeof header);
  command(RingCommand::commit_and_fetch, entry, entry.headers.commit_id);
}

void RingLoop::end(const char* what, int error) {
  if (status_ >= 0) return;
  status_ = error == 0 ? 0 : 1;
  if (error != 0) std::fprintf(stderr, "bench-relay: %s: %s\n", what, std::strerror(error));
}

/// FORGET and INTERRUPT come over /dev/fuse in any case. They change nothing here.
void discard_requests(int device) {
  std::array<std::byte, FUSE_MIN_READ_BUFFER> request;
  while (::read(device, request.data(), request.size()) >= 0 || errno == EINTR) {
  }
}

}  // namespace

int run_by_ring(const Waiting& waiting) {
  std::thread([device = waiting.device] { discard_requests(device); }).detach();
  return RingLoop(waiting).run();
}

}  // namespace nfsrdma::bench::relay
