#include "client/session/slot_table.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace nfsrdma::client {

SlotHold& SlotHold::operator=(SlotHold&& other) noexcept {
  if (this == &other) return *this;
  release();
  table_ = std::exchange(other.table_, nullptr);
  index_ = other.index_;
  generation_ = other.generation_;
  return *this;
}

SlotHold::operator bool() const { return table_ && table_->generation_ == generation_; }

Slot& SlotHold::operator*() const {
  assert(*this);
  return table_->slots_[index_];
}

void SlotHold::release() {
  if (table_) std::exchange(table_, nullptr)->release(index_, generation_);
}

void SlotTable::reset(std::uint32_t slots, std::uint32_t most) {
  ++generation_;
  slots_.assign(std::max(slots, 1U), Slot{});
  most_ = std::max(most, slots);
  slots_.reserve(most_);  // growing later moves no slot and allocates nothing
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].id = static_cast<nfs4::slotid4>(i);
  usable_ = static_cast<std::uint32_t>(slots_.size());
  busy_ = 0;
  open_ = false;
  hand_out();
}

void SlotTable::open() {
  open_ = true;
  hand_out();
}

bool SlotTable::Acquire::await_ready() {
  if (table_.closed_) return true;
  // This overtakes nobody: hand_out() has left no slot that a waiter could have.
  hold_ = table_.try_take(urgency_);
  return static_cast<bool>(hold_);
}

SlotHold SlotTable::try_take(rpc::Urgency urgency) {
  if (!open_ || exhausted(urgency)) return {};
  return take_idle(usable_);
}

bool SlotTable::exhausted(rpc::Urgency urgency) const {
  const std::uint32_t kept_back = urgency == rpc::Urgency::ordinary && usable_ > 1 ? 1 : 0;
  return busy_ + kept_back >= usable_;
}

SlotHold SlotTable::take_idle(std::uint32_t below) {
  for (std::size_t i = 0; i < below; ++i) {
    Slot& slot = slots_[i];
    if (slot.busy || slot.in_doubt()) continue;
    slot.busy = true;
    ++busy_;
    return SlotHold(*this, i, generation_);
  }
  return {};
}

SlotHold SlotTable::take_in_doubt() {
  if (!open_) return {};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.busy || !slot.in_doubt()) continue;
    slot.busy = true;
    ++busy_;
    return SlotHold(*this, i, generation_);
  }
  return {};
}

void SlotTable::release(std::size_t index, std::uint32_t generation) {
  if (generation != generation_) return;
  assert(slots_[index].busy);
  slots_[index].busy = false;
  // It was in use when the server took it back; from now on the server may forget it.
  if (index >= usable_) slots_[index].retired = true;
  --busy_;
  hand_out();
}

void SlotTable::hand_out() {
  serve(rpc::Urgency::reserved);
  serve(rpc::Urgency::ordinary);
}

void SlotTable::serve(rpc::Urgency urgency) {
  while (Acquire* waiter = waiting_for(urgency).first()) {
    waiter->hold_ = try_take(urgency);
    if (!waiter->hold_) return;
    waiter->wake();
  }
}

void SlotTable::set_target(nfs4::slotid4 target_highest_slotid) {
  const std::uint32_t wanted = target_highest_slotid < most_ ? target_highest_slotid + 1 : most_;
  if (wanted == usable_) return;
  for (std::size_t i = wanted; i < slots_.size(); ++i) slots_[i].retired = true;
  while (slots_.size() < wanted) {
    slots_.push_back({});
    slots_.back().id = static_cast<nfs4::slotid4>(slots_.size() - 1);
  }
  usable_ = wanted;
  hand_out();
}

// Each request asks: slots in use are mostly the lowest, so a look from below is over at once.
nfs4::slotid4 SlotTable::highest_used() const {
  nfs4::slotid4 highest = 0;
  std::uint32_t left = busy_;
  for (auto slot = slots_.begin(); left > 0; ++slot) {
    if (!slot->busy) continue;
    highest = slot->id;
    --left;
  }
  return highest;
}

std::uint32_t SlotTable::sent_before(TimePoint time, std::uint32_t overtaken) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(slots_, [&](const Slot& slot) {
    return slot.busy && slot.in_doubt() && slot.sent_at < time && slot.overtaken >= overtaken;
  }));
}

void SlotTable::close() {
  closed_ = true;
  ordinary_.wake_all();
  reserved_.wake_all();
}

}  // namespace nfsrdma::client
