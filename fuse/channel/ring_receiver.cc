#include "fuse/channel/ring_receiver.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

/// Entries of a queue at first. A request that finds none waits in the kernel until another one of
/// its queue is answered; among those may be one that waits for it (a direct write that drops
/// cached pages, for a READ of them; a lock, for the unlock). So there are many.
constexpr std::size_t kEntries = 256;
constexpr std::size_t kLeastEntries = 32;
/// All queues together, but for those least ones, begin with as many as this.
constexpr std::size_t kEntriesOfAll = 4096;
/// A queue gets twice as many when a quarter is in use, and has at most so many: each program that
/// waits for a lock takes one.
constexpr std::size_t kMostEntries = 65536;
/// Completions that the ring has room for, in entries at first; others come with a later enter().
constexpr std::size_t kCompletions = 8;

/// What the operation keeps data in, or reads them into.
bool needs_slot(std::uint32_t opcode) {
  return opcode == FUSE_READ || opcode == FUSE_WRITE || opcode == FUSE_READDIR ||
         opcode == FUSE_READDIRPLUS;
}

/// Entries of a queue that have slots behind them, if a part of all slots is enough for that. The
/// kernel prefers those that were registered last or used last.
constexpr std::size_t kEntriesWithSlots = 16;
constexpr std::size_t kPartOfSlots = 4;

/// Larger WRITEs keep their slot after the answer, as a rule: until they are sent (write-behind;
/// smaller ones that come through the page cache are gathered elsewhere), and until they are
/// committed. To copy them first costs less than to put another slot in the place of the entry's,
/// which is what the others cost that are kept all the same (those of a small wsize).
constexpr std::size_t kMostOfPages = (std::size_t{256} << 10) - 1;
constexpr std::size_t kMostDirect = std::size_t{64} << 10;

bool may_be_kept(const Message& message) {
  fuse_write_in write{};
  if (message.header.opcode != FUSE_WRITE || message.arguments.size() < sizeof write) return false;
  std::memcpy(&write, message.arguments.data(), sizeof write);
  const bool direct = (write.flags & O_DIRECT) != 0;
  return message.payload.size() > (direct ? kMostDirect : kMostOfPages);
}

}  // namespace

RingReceiver::RingReceiver(Reactor& reactor, BufferPool& slots, InFlight& in_flight)
    : reactor_(reactor),
      slots_(slots),
      in_flight_(in_flight),
      turn_(reactor, [this] { turn(); }),
      resume_(reactor, [this] { serve_come(); }) {}

Result<std::unique_ptr<RingReceiver>> RingReceiver::create(Reactor& reactor, BufferPool& slots,
                                                           InFlight& in_flight, int device) {
  auto queues = possible_processors();
  if (!queues) return fail_from(queues);
  std::unique_ptr<RingReceiver> made(new RingReceiver(reactor, slots, in_flight));
  made->queues_.resize(*queues);
  made->first_entries_ = std::clamp(kEntriesOfAll / *queues, kLeastEntries, kEntries);
  for (unsigned queue = 0; queue < *queues; ++queue) {
    TRY(made->grow(static_cast<std::uint16_t>(queue), made->first_entries_));
  }
  auto ring = Ring::create(device, *queues * made->first_entries_ * kCompletions);
  if (!ring) return fail_from(ring);
  TRY(reactor.watch((*ring)->event(), EPOLLIN | EPOLLET, *made));
  made->ring_ = std::move(*ring);
  made->back_with_slots();  // last: close() gives back the slots of a ring that is there
  return made;
}

void RingReceiver::back_with_slots() {
  if (slots_.mapping() != BufferPool::Mapping::many) return;
  const std::size_t each =
      std::min(kEntriesWithSlots, slots_.slots() / kPartOfSlots / queues_.size());
  for (Queue& queue : queues_) {
    auto& entries = queue.entries.front()->all();
    for (std::size_t i = 0; i < each; ++i) {
      if (!entries[entries.size() - 1 - i].back_with_slot(slots_)) return;
    }
  }
}

void RingReceiver::start(Dispatcher& dispatcher, const KernelChannel& agreed) {
  dispatcher_ = &dispatcher;
  agreed_ = &agreed;
  turn();
}

void RingReceiver::pause() {
  paused_ = true;
  unlink();
  slot_.reset();
  while (RingEntry* entry = for_slot_.pop_front()) {
    entry->waiting->reply_error(ECONNABORTED);
    entry->waiting.reset();
  }
}

void RingReceiver::close() {
  if (!ring_) return;
  pause();
  reactor_.unwatch(ring_->event());
  ring_.reset();
  turn_.cancel();
  resume_.cancel();
  for (Queue& queue : queues_) {
    for (auto& some : queue.entries) {
      for (RingEntry& entry : some->all()) entry.close();
    }
  }
}

Result<void> RingReceiver::grow(std::uint16_t queue, std::size_t count) {
  auto made = RingEntries::create(*this, queue, count);
  if (!made) return fail_from(made);
  for (RingEntry& entry : (*made)->all()) new_.push_back(entry);
  queues_[queue].made += count;
  queues_[queue].entries.push_back(std::move(*made));
  return {};
}

void RingReceiver::commit(RingEntry& entry) {
  in_flight_.counters().ring_bytes_copied.add(entry.copied_bytes());
  entry.unlink();  // what waits for a slot may be answered early
  answered_.push_back(entry);
  turn_.schedule();
}

/// What this brings is dispatched at once: an INTERRUPT that comes over /dev/fuse finds its
/// request.
void RingReceiver::turn() {
  if (!ring_) return;
  register_new();
  hand_over();
  in_flight_.counters().ring_enters.add();
  const bool all_taken = ring_->enter();
  ring_->visit_completions(
      [this](void* user, int result) { completed(*static_cast<RingEntry*>(user), result); });
  serve_come();
  const bool more = !all_taken || !answered_.empty() || !new_.empty();
  if (more || ring_->missed_event()) turn_.schedule();
}

void RingReceiver::register_new() {
  while (!new_.empty()) {
    RingEntry& entry = new_.front();
    entry.agree(*agreed_);
    const RingCommandArguments arguments{.queue = entry.queue()};
    if (!ring_->prepare(RingCommand::add_entry, arguments, entry.memory(), &entry)) return;
    entry.unlink();
    in_flight_.counters().ring_entries.add();
  }
}

void RingReceiver::hand_over() {
  while (!answered_.empty()) {
    RingEntry& entry = answered_.front();
    entry.waiting.reset();
    if (entry.lent()) {
      entry.part_with_slot();
      in_flight_.counters().ring_slots_kept.add();
    }
    entry.place_short_answer();
    const RingCommandArguments arguments{.commit_id = entry.commit_id(), .queue = entry.queue()};
    if (!ring_->prepare(RingCommand::commit_and_fetch, arguments, {}, &entry)) return;
    entry.unlink();
    --queues_[entry.queue()].busy;
  }
}

/// An error is the end of the entry: the connection's, or the kernel did not want it in the first
/// place.
void RingReceiver::completed(RingEntry& entry, int result) {
  Queue& queue = queues_[entry.queue()];
  if (result < 0) {
    --queue.made;
    entry.close();
    const bool over = result == -ENOTCONN || result == -ECONNABORTED || result == -ECANCELED;
    if (!over && !refused_) {
      log::warning("fuse: io_uring: {}; requests come over /dev/fuse", std::strerror(-result));
    }
    refused_ |= !over;
    return;
  }
  in_flight_.counters().ring_requests.add();
  arrived_.push_back(entry);
  // Early: the kernel queues what finds no entry until an answer comes on that queue. A new entry
  // does not take it.
  ++queue.busy;
  if (queue.busy < queue.made / 4 || queue.made >= kMostEntries) return;
  // Without memory for more the queue stays as it is.
  (void)grow(entry.queue(), std::min(queue.made, kMostEntries - queue.made));
}

/// What needs no slot of the receiver's is served past what does.
void RingReceiver::serve_come() {
  while (!paused_ && !for_slot_.empty() && serve(for_slot_.front())) continue;
  while (!paused_ && !arrived_.empty()) {
    RingEntry& entry = arrived_.front();
    if (!serve(entry)) let_wait(entry);
  }
  if (!for_slot_.empty() && !linked()) slots_.wait(*this);
}

/// For the kernel the request is sent: its caller is released by what knows of it, or not at all.
void RingReceiver::let_wait(RingEntry& entry) {
  in_flight_.counters().slot_stalls.add();
  entry.unlink();
  auto request = dispatcher_->take_in(entry, entry.receive().header);
  if (!request) return;
  entry.waiting.emplace(std::move(*request));
  for_slot_.push_back(entry);
}

/// False: it needs a slot, and there is none.
bool RingReceiver::serve(RingEntry& entry) {
  Message message = entry.receive();
  const std::uint32_t opcode = message.header.opcode;
  // A READ brings nothing that a new slot would hide.
  if (opcode == FUSE_READ && entry.lacks_slot()) entry.back_with_slot(slots_);
  Buffer lent;
  if (entry.has_slot() && needs_slot(opcode) && !may_be_kept(message)) {
    lent = entry.lend_slot();
    message.slot = &lent;
  } else if (!copy_into_slot(message)) {
    return false;
  }
  entry.unlink();
  const bool had_slot = static_cast<bool>(*message.slot);
  if (entry.waiting) {
    Request request = std::move(*entry.waiting);
    entry.waiting.reset();
    dispatcher_->serve(std::move(request), message);
  } else {
    dispatcher_->dispatch(entry, message);
  }
  if (had_slot && !*message.slot) in_flight_.counters().slots_taken.add();
  return true;
}

/// What the operation may keep leaves the entry.
bool RingReceiver::copy_into_slot(Message& message) {
  message.slot = &slot_;
  if (!needs_slot(message.header.opcode)) return true;
  if (!slot_) slot_ = slots_.acquire();
  if (!slot_) return false;
  if (message.header.opcode != FUSE_WRITE) return true;
  const auto copied = slot_.first(message.payload.size());
  // Not std::copy: g++ 12 makes a loop over single bytes of it here, ten times as slow.
  if (!copied.empty()) std::memcpy(copied.data(), message.payload.data(), copied.size());
  in_flight_.counters().ring_bytes_copied.add(copied.size());
  message.payload = copied;
  return true;
}

}  // namespace nfsrdma::fuse
