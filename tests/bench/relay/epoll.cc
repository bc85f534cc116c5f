#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "tests/bench/relay/loops.h"
#include "tests/bench/relay/relay.h"
#include "tests/bench/relay/segmented_link.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::bench::relay {
namespace {

using Clock = std::chrono::steady_clock;

/// Requests that lie here at once, those that were answered before they were sent included.
constexpr std::size_t kPlaces = 1024;
/// In front of the data of a WRITE, and of an answer.
constexpr std::size_t kHeaderRoom = 4096;
constexpr std::size_t kPlaceSize = kMostData + 2 * kHeaderRoom;
/// Requests taken from the device before the socket is looked at.
constexpr int kRequestsPerTurn = 16;

std::unique_ptr<Link> link_for(const Waiting& waiting) {
  if (waiting.in_segments) return std::make_unique<SegmentedLink>();
  return std::make_unique<PlainLink>();
}

/// Memory for requests. The one that was used last is given out first.
class Places {
 public:
  Places()
      : base_(static_cast<std::byte*>(::mmap(nullptr, kPlaces * kPlaceSize, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) return;
    for (std::size_t i = 0; i < kPlaces; ++i) free_.push_back(base_ + i * kPlaceSize);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() { ::munmap(base_, kPlaces * kPlaceSize); }

  std::byte* take() {
    if (free_.empty()) return nullptr;
    std::byte* const place = free_.back();
    free_.pop_back();
    return place;
  }
  void put(std::byte* place) { free_.push_back(place); }

 private:
  std::byte* const base_;
  std::vector<std::byte*> free_;
};

/// Requests whose data are kept, the last ones up to so many bytes.
class Kept {
 public:
  explicit Kept(std::size_t most) : most_(most) {}

  bool wants(const std::byte* place) const {
    return most_ > 0 && header_of(place).opcode == FUSE_WRITE;
  }
  void add(std::byte* place) {
    places_.push_back(place);
    bytes_ += header_of(place).len;
  }
  /// One that is too much; null: none is.
  std::byte* take_oldest() {
    if (bytes_ <= most_ && places_.size() <= kPlaces / 2) return nullptr;
    std::byte* const oldest = places_.front();
    places_.pop_front();
    bytes_ -= header_of(oldest).len;
    return oldest;
  }

 private:
  static fuse_in_header header_of(const std::byte* place) {
    fuse_in_header header;
    std::memcpy(&header, place, sizeof header);
    return header;
  }

  const std::size_t most_;
  std::size_t bytes_ = 0;
  std::deque<std::byte*> places_;
};

class EpollLoop final : public Channel {
 public:
  explicit EpollLoop(const Waiting& waiting)
      : waiting_(waiting),
        kept_(waiting.kept_bytes),
        relay_(*this, link_for(waiting), waiting.as_nfs) {}
  int run();

 private:
  void reply(const Passage& passage, int error, std::span<const std::byte> structure,
             std::size_t data) override;
  void give_back(std::byte* place) override;
  bool keeps_data_after_reply() const override { return true; }

  void watch_device(int change, bool wanted) const;
  int wait(std::span<epoll_event> events) const;
  void take_requests();
  bool take_request();
  void send();
  void receive();
  void end(const char* what);

  const Waiting waiting_;
  const UniqueFd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  Places places_;
  Kept kept_;
  Relay relay_;
  Parts parts_;
  bool stalled_ = false;  ///< no place is free
  int status_ = -1;       ///< what run() returns; -1: it goes on
};

int EpollLoop::run() {
  ::fcntl(waiting_.device, F_SETFL, ::fcntl(waiting_.device, F_GETFL) | O_NONBLOCK);
  epoll_event socket{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.fd = waiting_.socket}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, waiting_.socket, &socket);
  watch_device(EPOLL_CTL_ADD, true);
  std::array<epoll_event, 2> events;
  while (status_ < 0) {
    const int ready = wait(events);
    if (ready < 0 && errno != EINTR) end("epoll_wait");
    for (int i = 0; i < ready; ++i) {
      if (events[i].data.fd == waiting_.device) {
        take_requests();
      } else if (events[i].events & ~EPOLLOUT) {
        receive();
      }
    }
    send();
  }
  return status_;
}

int EpollLoop::wait(std::span<epoll_event> events) const {
  const auto look = [&](int timeout) {
    return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  };
  if (waiting_.looking_microseconds > 0) {
    const auto end = Clock::now() + std::chrono::microseconds(waiting_.looking_microseconds);
    do {
      if (const int ready = look(0)) return ready;
    } while (Clock::now() < end);
  }
  return look(-1);
}

void EpollLoop::watch_device(int change, bool wanted) const {
  epoll_event device{.events = wanted ? std::uint32_t{EPOLLIN} : 0,
                     .data = {.fd = waiting_.device}};
  ::epoll_ctl(epoll_.get(), change, waiting_.device, &device);
}

/// A single caller asks nothing more before its answer: a second read would find nothing.
void EpollLoop::take_requests() {
  for (int i = 0; i < kRequestsPerTurn && status_ < 0; ++i) {
    if (!take_request() || relay_.link().waiting() <= 1) return;
  }
}

bool EpollLoop::take_request() {
  std::byte* const place = places_.take();
  if (!place) {
    stalled_ = true;
    watch_device(EPOLL_CTL_MOD, false);
    return false;
  }
  const ssize_t got = ::read(waiting_.device, place, kPlaceSize);
  Request request;
  if (got < static_cast<ssize_t>(sizeof request.header)) {
    places_.put(place);
    if (got >= 0 || (errno != EAGAIN && errno != EINTR && errno != ENOENT)) end("/dev/fuse");
    return false;
  }
  std::memcpy(&request.header, place, sizeof request.header);
  const auto rest = std::span(place, static_cast<std::size_t>(got)).subspan(sizeof request.header);
  const std::size_t structure = std::min(structure_size(request.header.opcode), rest.size());
  request.structure = rest.first(structure);
  request.rest = rest.subspan(structure);
  request.place = place;
  request.data = place + kHeaderRoom;
  relay_.take(request);
  return true;
}

/// The header of an answer that has data is put in front of them: one piece of memory.
void EpollLoop::reply(const Passage& passage, int error, std::span<const std::byte> structure,
                      std::size_t data) {
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + structure.size() + data);
  header.error = -error;
  header.unique = passage.unique;
  if (data > 0) {
    std::byte* const begin = passage.data - sizeof header;
    std::memcpy(begin, &header, sizeof header);
    if (::write(waiting_.device, begin, header.len) < 0 && errno != ENOENT) end("/dev/fuse");
    return;
  }
  const iovec parts[] = {{&header, sizeof header},
                         {const_cast<std::byte*>(structure.data()), structure.size()}};
  if (::writev(waiting_.device, parts, 2) < 0 && errno != ENOENT) end("/dev/fuse");
}

void EpollLoop::give_back(std::byte* place) {
  if (kept_.wants(place)) {
    kept_.add(place);
    place = kept_.take_oldest();
    if (!place) return;
  }
  places_.put(place);
  if (!stalled_) return;
  stalled_ = false;
  watch_device(EPOLL_CTL_MOD, true);
}

/// Until the socket takes no more: then it says when it does.
void EpollLoop::send() {
  while (relay_.link().has_unsent()) {
    relay_.link().gather_unsent(parts_);
    msghdr message{};
    message.msg_iov = parts_.data();
    message.msg_iovlen = parts_.count();
    const ssize_t sent = ::sendmsg(waiting_.socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) end("send");
      return;
    }
    relay_.sent(static_cast<std::size_t>(sent));
  }
}

/// Less than there is room for: no more has come.
void EpollLoop::receive() {
  for (;;) {
    relay_.link().gather_expected(parts_);
    const std::size_t room = parts_.bytes();
    if (room == 0) return;
    msghdr message{};
    message.msg_iov = parts_.data();
    message.msg_iovlen = parts_.count();
    const ssize_t got = ::recvmsg(waiting_.socket, &message, MSG_DONTWAIT);
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) {
      if (errno != EAGAIN) end("receive");
      return;
    }
    if (!relay_.received(static_cast<std::size_t>(got))) {
      errno = EBADMSG;
      return end("receive");
    }
    if (static_cast<std::size_t>(got) < room) return;
  }
}

void EpollLoop::end(const char* what) {
  if (status_ >= 0) return;
  status_ = errno == ENODEV ? 0 : 1;
  if (status_ != 0) std::fprintf(stderr, "bench-relay: %s: %s\n", what, std::strerror(errno));
}

}  // namespace

int run_by_epoll(const Waiting& waiting) { return EpollLoop(waiting).run(); }

}  // namespace nfsrdma::bench::relay
