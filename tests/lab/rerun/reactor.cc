#include "tests/lab/rerun/reactor.h"

#include <cerrno>

#include <utility>

namespace nfsrdma::lab::rerun {

using journal::Body;
using journal::Kind;

Result<void> RerunReactor::watch(int fd, std::uint32_t, FdHandler& handler) {
  world_.give(Kind::watch, Body().u32(++watches_made_));
  if (seen("a descriptor that cannot be watched", false)) {
    return fail(Error::local(EBADF, "watch", "it was refused when this was recorded"));
  }
  watches_[fd] = {watches_made_, &handler};
  return {};
}

Result<void> RerunReactor::modify(int fd, std::uint32_t events, FdHandler& handler) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return watch(fd, events, handler);
  found->second.handler = &handler;
  return {};
}

void RerunReactor::unwatch(int fd) { watches_.erase(fd); }

std::function<void()> RerunReactor::waking_call(std::function<void()> work) {
  waking_calls_[++waking_calls_made_] = std::move(work);
  world_.give(Kind::waking_call, Body().u32(waking_calls_made_));
  return [] {};  // the recording says when
}

void RerunReactor::wake(std::uint32_t number) {
  const auto call = waking_calls_.extract(number);
  if (!call) world_.damaged("a thread answers what it was not asked");
  call.mapped()();
}

void RerunReactor::ready(std::uint32_t number, std::uint32_t events) {
  for (const auto& [fd, watch] : watches_) {
    if (watch.number == number) return watch.handler->on_ready(events);
  }
  world_.damaged("a descriptor is ready that is not watched");
}

}  // namespace nfsrdma::lab::rerun
