#include "client/compound/compound_pool.h"

#include <algorithm>
#include <cassert>
#include <random>
#include <utility>

namespace nfsrdma::client {

void ReturnCompound::operator()(Compound* compound) const { pool->give_back(compound); }

CompoundPool::CompoundPool(Reactor& reactor, BufferPool& pool, std::size_t most,
                           std::string machine_name)
    : most_(most),
      machine_name_(std::move(machine_name)),
      waiters_(reactor),
      idle_(reactor),
      xid_(reactor.seen("first XID", std::random_device{}())) {
  all_.reserve(most + kReserved);
  while (all_.size() < most + kReserved) {
    Buffer head = pool.acquire();
    if (!head) break;
    all_.push_back(std::make_unique<Compound>(std::move(head)));
    free_.push_back(*all_.back());
  }
}

CompoundPool::~CompoundPool() { assert(in_use() == 0); }

bool CompoundPool::Acquire::await_ready() {
  if (pool_.closed_) return true;
  if (pool_.ordinary_ >= pool_.most_) return false;
  taken_ = pool_.free_.pop_front();
  if (taken_) ++pool_.ordinary_;
  return true;
}

CompoundRef CompoundPool::Acquire::await_resume() {
  CompoundRef compound(taken_, ReturnCompound{&pool_});
  if (compound) {
    compound->set_urgency(rpc::Urgency::ordinary);
    compound->begin(caller_, pool_.machine_name_);
  }
  return compound;
}

CompoundRef CompoundPool::acquire_reserved() {
  Compound* compound = reserved_ < kReserved ? free_.pop_front() : nullptr;
  if (compound) {
    ++reserved_;
    compound->set_urgency(rpc::Urgency::reserved);
  }
  return CompoundRef(compound, ReturnCompound{this});
}

CompoundRef CompoundPool::begin_reserved(const Credential& caller) {
  CompoundRef compound = acquire_reserved();
  if (compound) compound->begin(caller, machine_name_);
  return compound;
}

void CompoundPool::give_back(Compound* compound) {
  // Lets go of the reply and of every buffer now, not when the Compound is next used.
  compound->clear();
  if (compound->urgency() == rpc::Urgency::reserved) {
    --reserved_;
    recycle(compound);
  } else if (Acquire* next = waiters_.first()) {
    next->taken_ = compound;
    next->wake();
  } else {
    --ordinary_;
    recycle(compound);
  }
}

void CompoundPool::recycle(Compound* compound) {
  free_.push_front(*compound);
  if (in_use() == 0) idle_.wake_all();
}

std::uint32_t CompoundPool::next_xid() {
  do {
    ++xid_;
    if (xid_ == 0) xid_wrapped_ = true;
  } while (xid_ == 0 || (xid_wrapped_ && xid_in_use(xid_)));
  return xid_;
}

bool CompoundPool::xid_in_use(std::uint32_t xid) const {
  return std::any_of(all_.begin(), all_.end(),
                     [xid](const auto& compound) { return compound->call().xid == xid; });
}

void CompoundPool::close() {
  closed_ = true;
  waiters_.wake_all();
}

}  // namespace nfsrdma::client
