#include "tests/hostile/socket_reactor.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

namespace nfsrdma::hostile {
namespace {

constexpr int kEventsPerWait = 64;
/// Loopback delivers before send(2) returns, nearly always; for the rest the loop waits so long in
/// real time before it believes that nothing comes.
constexpr int kPatienceMilliseconds = 1;

}  // namespace

SocketReactor::SocketReactor() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<void> SocketReactor::watch(int fd, std::uint32_t events, FdHandler& handler) {
  TRY(control(EPOLL_CTL_ADD, fd, events));
  handlers_[fd] = &handler;
  return {};
}

Result<void> SocketReactor::modify(int fd, std::uint32_t events, FdHandler& handler) {
  TRY(control(EPOLL_CTL_MOD, fd, events));
  handlers_[fd] = &handler;
  return {};
}

void SocketReactor::unwatch(int fd) {
  if (handlers_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void SocketReactor::wake_from_other_thread(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  foreign_.push_back(std::move(work));
}

bool SocketReactor::run_until(const std::function<bool()>& done, Duration span) {
  const TimePoint end = now_ + span;
  while (!done()) {
    if (now_ >= end) return false;
    run_once(end - now_);
    ++turns_;
  }
  return true;
}

bool SocketReactor::wait(Duration longest) {
  if (run_foreign()) return true;
  int count = ready(0);
  if (count == 0 && longest > Duration::zero() && !quiet_) {
    count = ready(kPatienceMilliseconds);
    quiet_ = count == 0;
  }
  if (count > 0) quiet_ = false;
  if (count == 0 && longest > Duration::zero()) now_ += longest;
  return count > 0;
}

int SocketReactor::ready(int milliseconds) {
  std::array<epoll_event, kEventsPerWait> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsPerWait, milliseconds);
  for (int i = 0; i < count; ++i) {
    // An earlier handler of this batch may have unwatched the descriptor.
    const auto found = handlers_.find(events[i].data.fd);
    if (found != handlers_.end()) found->second->on_ready(events[i].events);
  }
  return std::max(count, 0);
}

bool SocketReactor::run_foreign() {
  std::vector<std::function<void()>> batch;
  {
    std::lock_guard lock(mutex_);
    batch.swap(foreign_);
  }
  for (auto& work : batch) work();
  return !batch.empty();
}

Result<void> SocketReactor::control(int operation, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
    return fail(Error::from_errno(errno, "epoll_ctl"));
  }
  return {};
}

}  // namespace nfsrdma::hostile
