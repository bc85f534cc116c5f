#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <unordered_map>

#include "transport/base/busy_poll.h"
#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma {
namespace {

constexpr int kEventsPerWait = 64;
using Events = std::array<epoll_event, kEventsPerWait>;

Duration read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class EpollReactor final : public Reactor, private FdHandler {
 public:
  /// Null: it sleeps at once.
  explicit EpollReactor(BusyPoll* busy_poll = nullptr)
      : busy_poll_(busy_poll && busy_poll->on() ? busy_poll : nullptr),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    (void)watch(wake_.get(), EPOLLIN, *this);
  }

  TimePoint now() const override {
    return std::chrono::duration_cast<TimePoint>(
        std::chrono::steady_clock::now().time_since_epoch());
  }

  Duration suspended() override {
    const Duration all = read_clock(CLOCK_BOOTTIME);
    return all - read_clock(CLOCK_MONOTONIC);
  }

  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override {
    TRY(control(EPOLL_CTL_ADD, fd, events));
    handlers_[fd] = &handler;
    return {};
  }

  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override {
    TRY(control(EPOLL_CTL_MOD, fd, events));
    handlers_[fd] = &handler;
    return {};
  }

  void unwatch(int fd) override {
    if (handlers_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }

  void wake_from_other_thread(std::function<void()> work) override {
    {
      std::lock_guard lock(foreign_mutex_);
      foreign_.push_back(std::move(work));
    }
    const std::uint64_t one = 1;
    // The counter cannot overflow in practice, and a full one still wakes the loop.
    [[maybe_unused]] auto written = ::write(wake_.get(), &one, sizeof one);
  }

 private:
  bool wait(Duration longest) override {
    Events events;
    const bool sleeps = longest != Duration::zero();
    const int count =
        busy_poll_ && sleeps ? look_and_sleep(events, longest) : sleep(events, longest);
    for (int i = 0; i < count; ++i) {
      // An earlier handler of this batch may have unwatched the descriptor.
      auto found = handlers_.find(events[i].data.fd);
      if (found != handlers_.end()) found->second->on_ready(events[i].events);
    }
    return count > 0;
  }

  int sleep(Events& events, Duration longest) {
    return ::epoll_wait(epoll_.get(), events.data(), kEventsPerWait, milliseconds(longest));
  }

  int look_and_sleep(Events& events, Duration longest) {
    const TimePoint start = now();
    const bool looks = busy_poll_->pays(start);
    int count = looks ? look(events, start, longest) : 0;
    const bool found = count > 0;
    if (!found) count = sleep(events, left_of(longest, start));
    busy_poll_->note(now() - start, looks, found);
    return count;
  }

  int look(Events& events, TimePoint start, Duration longest) {
    const Duration bound = longest < Duration::zero() ? busy_poll_->longest()
                                                      : std::min(longest, busy_poll_->longest());
    int count = 0;
    do {
      count = sleep(events, Duration::zero());
    } while (count == 0 && now() - start < bound);
    return count;
  }

  Duration left_of(Duration longest, TimePoint start) const {
    if (longest < Duration::zero()) return longest;
    return std::max(longest - (now() - start), Duration::zero());
  }

  static int milliseconds(Duration longest) {
    if (longest < Duration::zero()) return -1;
    constexpr Duration round_up = std::chrono::microseconds(999);
    return static_cast<int>(
        std::chrono::duration_cast<std::chrono::milliseconds>(longest + round_up).count());
  }

  Result<void> control(int operation, int fd, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
      return fail(Error::from_errno(errno, "epoll_ctl"));
    }
    return {};
  }

  void on_ready(std::uint32_t) override {
    std::uint64_t count;
    [[maybe_unused]] auto got = ::read(wake_.get(), &count, sizeof count);
    std::vector<std::function<void()>> batch;
    {
      std::lock_guard lock(foreign_mutex_);
      batch.swap(foreign_);
    }
    for (auto& work : batch) work();
  }

  BusyPoll* const busy_poll_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::unordered_map<int, FdHandler*> handlers_;
  std::mutex foreign_mutex_;
  std::vector<std::function<void()>> foreign_;
};

}  // namespace

std::unique_ptr<Reactor> make_epoll_reactor() { return std::make_unique<EpollReactor>(); }

std::unique_ptr<Reactor> make_epoll_reactor(BusyPoll& busy_poll) {
  return std::make_unique<EpollReactor>(&busy_poll);
}

}  // namespace nfsrdma
