#include "fuse/channel/receiver.h"

#include <linux/fuse.h>
#include <sys/epoll.h>

#include <cassert>
#include <cerrno>
#include <cstring>

namespace nfsrdma::fuse {
namespace {

/// Requests taken from the device before the reactor looks at its other descriptors.
constexpr int kRequestsPerTurn = 16;

}  // namespace

Receiver::Receiver(Reactor& reactor, BufferPool& slots, fuse_session& session, InFlight& in_flight,
                   TransferLimits limits, ReceiverObserver& observer)
    : reactor_(reactor),
      slots_(slots),
      session_(session),
      in_flight_(in_flight),
      limits_(limits),
      observer_(observer),
      device_(fuse_session_fd(&session)),
      resume_(reactor, [this] { resume(); }) {
  assert(slots.slot_size() >= kSlotSize);
}

Receiver::~Receiver() {
  if (state_ != State::idle && state_ != State::ended) reactor_.unwatch(device_);
}

Result<void> Receiver::start() {
  assert(state_ == State::idle);
  TRY(reactor_.watch(device_, EPOLLIN, *this));
  state_ = State::receiving;
  return {};
}

void Receiver::pause() {
  unlink();
  if (state_ != State::receiving && state_ != State::stalled) return;
  slot_.reset();
  set_state(State::paused);
}

void Receiver::on_ready(std::uint32_t events) {
  if (state_ != State::receiving) {
    // Without interest in input only the end of the connection is reported.
    if (events & (EPOLLERR | EPOLLHUP)) end(Error::local(0, "unmounted"));
    return;
  }
  for (int taken = 0; taken < kRequestsPerTurn && state_ == State::receiving; ++taken) {
    if (!receive_one()) return;
    // A single caller asks nothing more before its answer: a second read would find nothing.
    if (in_flight_.running() <= 1) return;
  }
}

bool Receiver::receive_one() {
  if (!slot_) slot_ = slots_.acquire();
  if (!slot_) {
    stall();
    return false;
  }
  fuse_buf request{};
  request.mem = slot_.data();
  request.size = slot_.size();
  const int received = fuse_session_receive_buf(&session_, &request);
  if (received == -EAGAIN || received == -EINTR) {
    in_flight_.counters().device_idle.add();
    return false;
  }
  if (received <= 0) {
    end(received == 0 ? Error::local(0, "unmounted")
                      : Error::from_errno(-received, "read /dev/fuse"));
    return false;
  }
  in_flight_.counters().device_reads.add();
  dispatch(request);
  return true;
}

void Receiver::dispatch(const fuse_buf& request) {
  fuse_in_header header;
  std::memcpy(&header, request.mem, sizeof header);
  in_flight_.counters().count_request(header.opcode);
  {
    Dispatch now{in_flight_, slot_, limits_, header.opcode, header.nodeid};
    DispatchScope scope(now);
    fuse_session_process_buf(&session_, &request);
  }
  if (header.opcode == FUSE_INIT && !initialised_ && !fuse_session_exited(&session_)) {
    initialised_ = true;
    observer_.on_initialised();
  }
}

void Receiver::stall() {
  in_flight_.counters().slot_stalls.add();
  set_state(State::stalled);
  slots_.wait(*this);
}

void Receiver::on_buffer_available() { resume_.arm(Duration::zero()); }

void Receiver::resume() {
  if (state_ != State::stalled) return;
  slot_ = slots_.acquire();
  if (slot_) {
    set_state(State::receiving);
  } else {
    slots_.wait(*this);
  }
}

void Receiver::set_state(State state) {
  state_ = state;
  constexpr std::uint32_t only_the_end = 0;
  const std::uint32_t events = state == State::receiving ? std::uint32_t{EPOLLIN} : only_the_end;
  auto changed = reactor_.modify(device_, events, *this);
  if (!changed) end(changed.error());
}

void Receiver::end(Error reason) {
  state_ = State::ended;
  unlink();
  reactor_.unwatch(device_);
  slot_.reset();
  observer_.on_receive_ended(reason);
}

}  // namespace nfsrdma::fuse
