#include "fuse/channel/receiver.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>

namespace nfsrdma::fuse {
namespace {

/// Requests taken from the device before the reactor looks at its other descriptors.
constexpr int kRequestsPerTurn = 16;
/// Where in its slot a request begins: so the data of a WRITE begin on a page. The kernel copies
/// page by page, and each to the parts of two pages otherwise.
constexpr std::size_t kRequestPlace = kHeaderRoom - sizeof(fuse_in_header) - sizeof(fuse_write_in);

}  // namespace

Receiver::Receiver(Reactor& reactor, BufferPool& slots, DeviceChannel& device, InFlight& in_flight,
                   Serving serving, ReceiverObserver& observer, RequestJournal* journal)
    : reactor_(reactor),
      slots_(slots),
      journal_(journal),
      channel_(journal ? static_cast<KernelChannel&>(*journal) : device),
      device_(device.descriptor),
      in_flight_(in_flight),
      dispatcher_(journal ? journal->reactor() : reactor, in_flight, serving),
      observer_(observer),
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
  give_slot_back();
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
  if (!slot_) slot_ = acquire();
  if (!slot_) {
    stall();
    return false;
  }
  const std::span<std::byte> room = slot_.bytes().subspan(kRequestPlace);
  const ssize_t received = ::read(device_, room.data(), room.size());
  const int failed = received < 0 ? errno : 0;
  // ENOENT: the caller has given the request up meanwhile.
  if (failed == EAGAIN || failed == EINTR || failed == ENOENT) {
    in_flight_.counters().device_idle.add();
    return false;
  }
  if (failed != 0) {
    end(failed == ENODEV ? Error::local(0, "unmounted")
                         : Error::from_errno(failed, "read /dev/fuse"));
    return false;
  }
  in_flight_.counters().device_reads.add();
  dispatch(room.first(static_cast<std::size_t>(received)));
  return state_ != State::ended;
}

void Receiver::dispatch(std::span<const std::byte> received) {
  Message message;
  if (received.size() < sizeof message.header) {
    return end(Error::local(EIO, "read /dev/fuse", "a request without a header"));
  }
  std::memcpy(&message.header, received.data(), sizeof message.header);
  message.arguments = received.subspan(sizeof message.header);
  message.slot = &slot_;
  const bool initialised = dispatcher_.initialised();
  {
    std::optional<journal::Input> input;
    if (journal_) journal_->begin_request(input, received);
    dispatcher_.dispatch(channel_, message);
  }
  if (!slot_) in_flight_.counters().slots_taken.add();
  if (!initialised && dispatcher_.initialised()) observer_.on_initialised();
}

void Receiver::stall() {
  in_flight_.counters().slot_stalls.add();
  set_state(State::stalled);
  wait_for_slot();
}

Buffer Receiver::acquire() {
  std::optional<journal::Input> input;
  note(input, journal::SlotStep::acquire);
  return slots_.acquire();
}

void Receiver::wait_for_slot() {
  std::optional<journal::Input> input;
  note(input, journal::SlotStep::wait);
  slots_.wait(*this);
}

void Receiver::give_slot_back() {
  std::optional<journal::Input> input;
  note(input, journal::SlotStep::give_back);
  slot_.reset();
}

void Receiver::resume() {
  if (state_ != State::stalled) return;
  slot_ = acquire();
  if (slot_) {
    set_state(State::receiving);
  } else {
    wait_for_slot();
  }
}

void Receiver::set_state(State state) {
  state_ = state;
  constexpr std::uint32_t only_the_end = 0;
  const std::uint32_t events = state == State::receiving ? std::uint32_t{EPOLLIN} : only_the_end;
  auto changed = reactor_.modify(device_, events, *this);
  if (!changed) end(changed.error());
}

void Receiver::end(const Error& reason) {
  state_ = State::ended;
  unlink();
  reactor_.unwatch(device_);
  give_slot_back();
  observer_.on_receive_ended(reason);
}

}  // namespace nfsrdma::fuse
