// bench-delay TARGET_PORT MILLISECONDS [PORT]: a proxy on 127.0.0.1 that adds MILLISECONDS of round
// trip, half of it in each direction, and limits no bandwidth. It listens on PORT, or on a free
// one, says "listening on 127.0.0.1:PORT", and connects each client to TARGET_PORT of 127.0.0.1. It
// runs until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "tests/bench/loopback.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunk = std::size_t{256} << 10;
/// Bytes on their way in one direction: more than any bandwidth times any delay that is tried.
constexpr std::size_t kMostUnderWay = std::size_t{512} << 20;
/// Chunks received before it is seen whether others are due.
constexpr int kMostTaken = 4;
constexpr int kEvents = 64;

/// What has arrived at one time.
struct Chunk {
  std::unique_ptr<char[]> memory;
  std::size_t begin = 0;
  std::size_t end = 0;
  Clock::time_point due{};
};

/// Memory that was used once has its pages.
class ChunkMemory {
 public:
  std::unique_ptr<char[]> take() {
    if (free_.empty()) return std::unique_ptr<char[]>(new char[kChunk]);
    auto memory = std::move(free_.back());
    free_.pop_back();
    return memory;
  }
  void put(std::unique_ptr<char[]> memory) { free_.push_back(std::move(memory)); }

 private:
  std::vector<std::unique_ptr<char[]>> free_;
};

/// One direction of one connection.
class Direction {
 public:
  Direction(int from, int to, Clock::duration delay, ChunkMemory& memory)
      : from_(from), to_(to), delay_(delay), memory_(memory) {}
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  /// Takes what there is, but not for so long that the sending waits. False: the connection is
  /// broken.
  bool receive() {
    more_ = false;
    for (int taken = 0; !ended_ && under_way_ < kMostUnderWay; ++taken) {
      more_ = taken == kMostTaken;
      if (more_) break;
      Chunk chunk{memory_.take()};
      const ssize_t got = ::recv(from_, chunk.memory.get(), kChunk, MSG_DONTWAIT);
      if (got < 0) memory_.put(std::move(chunk.memory));
      if (got < 0) return errno == EAGAIN;
      ended_ = got == 0;
      chunk.end = static_cast<std::size_t>(got);
      chunk.due = Clock::now() + delay_;
      under_way_ += chunk.end;
      chunks_.push_back(std::move(chunk));
    }
    return true;
  }

  /// Passes on what is due. False: the connection is broken.
  bool send(Clock::time_point now) {
    while (!chunks_.empty() && chunks_.front().due <= now) {
      Chunk& chunk = chunks_.front();
      const std::size_t left = chunk.end - chunk.begin;
      const ssize_t sent = left == 0 ? 0
                                     : ::send(to_, chunk.memory.get() + chunk.begin, left,
                                              MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      chunk.begin += static_cast<std::size_t>(sent);
      under_way_ -= static_cast<std::size_t>(sent);
      if (chunk.begin < chunk.end) continue;
      memory_.put(std::move(chunk.memory));
      chunks_.pop_front();
    }
    if (chunks_.empty() && ended_ && !done_) {
      done_ = true;
      ::shutdown(to_, SHUT_WR);
    }
    return true;
  }

  bool done() const { return done_; }
  /// There may be more to be received, of which no event tells.
  bool more() const { return more_; }
  /// When something is due that is not yet.
  Clock::time_point next(Clock::time_point now) const {
    const bool any = !chunks_.empty() && chunks_.front().due > now;
    return any ? chunks_.front().due : Clock::time_point::max();
  }

 private:
  const int from_;
  const int to_;
  const Clock::duration delay_;
  ChunkMemory& memory_;
  std::deque<Chunk> chunks_;
  std::size_t under_way_ = 0;
  bool more_ = false;
  bool ended_ = false;
  bool done_ = false;
};

struct Connection {
  Connection(int client_end, int server_end, Clock::duration delay, ChunkMemory& memory)
      : client(client_end),
        server(server_end),
        up(client_end, server_end, delay, memory),
        down(server_end, client_end, delay, memory) {}
  ~Connection() {
    for (const int fd : {client, server}) ::close(fd);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False: it has ended.
  bool work(Clock::time_point now) {
    if (!up.receive() || !down.receive() || !up.send(now) || !down.send(now)) return false;
    return !up.done() || !down.done();
  }
  bool more() const { return up.more() || down.more(); }
  Clock::time_point next(Clock::time_point now) const {
    return std::min(up.next(now), down.next(now));
  }

  const int client;
  const int server;
  Direction up;
  Direction down;
};

class Proxy {
 public:
  Proxy(int listener, unsigned long target, Clock::duration one_way)
      : listener_(listener),
        target_(target),
        one_way_(one_way),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    watch(listener_, EPOLLIN);
    watch(timer_, EPOLLIN);
  }

  [[noreturn]] void run() {
    for (;;) {
      epoll_event events[kEvents];
      const bool more = std::ranges::any_of(connections_, [](auto& one) { return one->more(); });
      const int count = ::epoll_wait(epoll_, events, kEvents, more ? 0 : -1);
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd == listener_) accept();
        if (events[i].data.fd == timer_) stop_timer();
      }
      const auto now = Clock::now();
      connections_.remove_if([now](auto& connection) { return !connection->work(now); });
      arm(now);
    }
  }

 private:
  void watch(int fd, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = nfsrdma::bench::loopback(target_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    const int on = 1;
    for (const int fd : {client, server}) {
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      // All is tried at each event, so that one report of each change is enough.
      watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
    connections_.push_back(std::make_unique<Connection>(client, server, one_way_, memory_));
  }

  void stop_timer() {
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(timer_, &ignored, sizeof ignored);
  }

  void arm(Clock::time_point now) {
    auto next = Clock::time_point::max();
    for (const auto& connection : connections_) next = std::min(next, connection->next(now));
    itimerspec when{};
    if (next != Clock::time_point::max()) {
      const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(next - now).count();
      constexpr long kNanosecondsPerSecond = 1'000'000'000;
      when.it_value = {wait / kNanosecondsPerSecond, wait % kNanosecondsPerSecond};
    }
    ::timerfd_settime(timer_, 0, &when, nullptr);
  }

  const int listener_;
  const unsigned long target_;
  const Clock::duration one_way_;
  const int epoll_;
  const int timer_;
  ChunkMemory memory_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: bench-delay TARGET_PORT MILLISECONDS [PORT]\n");
    return 1;
  }
  const int listener =
      nfsrdma::bench::listen_on(argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 0);
  if (listener < 0) {
    std::fprintf(stderr, "bench-delay: listen: %s\n", std::strerror(errno));
    return 1;
  }
  const std::chrono::duration<double, std::milli> round_trip(std::strtod(argv[2], nullptr));
  Proxy proxy(listener, std::strtoul(argv[1], nullptr, 10),
              std::chrono::duration_cast<Clock::duration>(round_trip / 2));
  proxy.run();
}
