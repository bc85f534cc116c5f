#include "transport/journal/journaled_reactor.h"

#include <algorithm>

namespace nfsrdma::journal {
namespace {

constexpr std::uint32_t kUnknownThread = 0;

}  // namespace

class JournaledReactor::Watch final : public FdHandler {
 public:
  Watch(JournaledReactor& reactor, std::uint32_t number, FdHandler& handler)
      : reactor_(reactor), number_(number), handler_(&handler) {}
  void call(FdHandler& handler) { handler_ = &handler; }
  void on_ready(std::uint32_t events) override {
    const Input input(reactor_, Kind::ready, Body().u32(number_).u32(events));
    handler_->on_ready(events);
  }

 private:
  JournaledReactor& reactor_;
  const std::uint32_t number_;
  FdHandler* handler_;
};

Body seen_body(const char* what, std::span<const std::byte> bytes) {
  return Body().string(what).opaque(bytes);
}

JournaledReactor::JournaledReactor(Reactor& outside, Recorder& recorder)
    : outside_(outside),
      recorder_(recorder),
      now_(outside.now()),
      work_soon_(outside, [this] { work(); }),
      work_later_(outside, [this] { work(); }) {}

JournaledReactor::~JournaledReactor() = default;

Result<void> JournaledReactor::watch(int fd, std::uint32_t events, FdHandler& handler) {
  auto made = std::make_unique<Watch>(*this, ++watches_made_, handler);
  recorder_.give(Kind::watch, Body().u32(watches_made_));
  auto watched = outside_.watch(fd, events, *made);
  // A program may do without what cannot be watched: its rerun has to do so, too.
  seen("a descriptor that cannot be watched", !watched.has_value());
  if (watched) watches_[fd] = std::move(made);
  return watched;
}

Result<void> JournaledReactor::modify(int fd, std::uint32_t events, FdHandler& handler) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return watch(fd, events, handler);
  found->second->call(handler);
  return outside_.modify(fd, events, *found->second);
}

void JournaledReactor::unwatch(int fd) {
  outside_.unwatch(fd);
  // Its handler may be what is running.
  if (auto watch = watches_.extract(fd)) outside_.dispose(std::move(watch.mapped()));
}

void JournaledReactor::wake_from_other_thread(std::function<void()> work) {
  outside_.wake_from_other_thread([this, work = std::move(work)] {
    const Input input(*this, Kind::woken, Body().u32(kUnknownThread));
    work();
  });
}

std::function<void()> JournaledReactor::waking_call(std::function<void()> work) {
  const std::uint32_t number = ++waking_calls_;
  recorder_.give(Kind::waking_call, Body().u32(number));
  return [this, number, work = std::move(work)] {
    outside_.wake_from_other_thread([this, number, work] {
      ++waking_calls_come_;
      const Input input(*this, Kind::woken, Body().u32(number));
      work();
    });
  };
}

std::size_t JournaledReactor::from_outside(const char* what, std::span<std::byte> memory,
                                           std::size_t size) {
  // A look from outside of every entry (a report) has no place in a rerun.
  if (depth_ > 0) recorder_.give(Kind::seen, seen_body(what, memory.first(size)));
  return size;
}

void JournaledReactor::begin(Kind kind, const Body& body) {
  const bool nested = depth_++ > 0;
  if (!nested) now_ = outside_.now();
  recorder_.input(kind, body, now_, nested);
}

void JournaledReactor::end() {
  if (--depth_ == 0) plan_next();
}

bool JournaledReactor::due() const {
  if (has_work()) return true;
  return timers_armed() > 0 && now_ + until_next_timer(Duration::max()) <= outside_.now();
}

void JournaledReactor::work() {
  if (due()) {
    const Input input(*this, Kind::work, {});
    run_once(Duration::zero());
  } else {
    plan_next();
  }
}

void JournaledReactor::plan_next() {
  if (has_work()) return work_soon_.schedule();
  if (timers_armed() == 0) return work_later_.cancel();
  const TimePoint next = now_ + until_next_timer(Duration::max());
  work_later_.arm(std::max(Duration::zero(), next - outside_.now()));
}

}  // namespace nfsrdma::journal
