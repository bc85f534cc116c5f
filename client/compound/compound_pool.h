// The requests that can exist at once: a fixed number, in message slots that are reused for ever.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/compound/compound.h"
#include "transport/base/buffer.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"

namespace nfsrdma::client {

class CompoundPool;

struct ReturnCompound {
  CompoundPool* pool = nullptr;
  void operator()(Compound* compound) const;
};
/// Returns to its pool when destroyed.
using CompoundRef = std::unique_ptr<Compound, ReturnCompound>;

/// Hands out Compounds in order of asking. A few are kept back for the session's own needs, so that
/// renewal and recovery move when every other request waits.
class CompoundPool {
 public:
  static constexpr std::size_t kReserved = 6;

  /// `most`: ordinary requests at once. Takes a slot of the pool for each request there can be:
  /// what else takes slots, texts of symbolic links, cannot leave the recovery without one. Reactor
  /// and pool outlive this.
  CompoundPool(Reactor& reactor, BufferPool& pool, std::size_t most, std::string machine_name);
  ~CompoundPool();

  /// Awaits a Compound that was begun with SEQUENCE; empty when the pool is closed or has too
  /// little memory.
  class Acquire : public WaitQueue::Wait {
   public:
    Acquire(CompoundPool& pool, const Credential& caller)
        : Wait(pool.waiters_), pool_(pool), caller_(caller) {}
    bool await_ready();
    CompoundRef await_resume();

   private:
    friend class CompoundPool;
    CompoundPool& pool_;
    const Credential& caller_;
    Compound* taken_ = nullptr;
  };
  /// `auto compound = co_await pool.acquire(caller);`
  Acquire acquire(const Credential& caller) { return Acquire(*this, caller); }
  /// Returns at once one of the reserve: Urgency::reserved, not begun. Empty when none is left.
  CompoundRef acquire_reserved();
  /// The same, begun with SEQUENCE.
  CompoundRef begin_reserved(const Credential& caller);

  /// No Compound is given out any more; waiters get an empty one.
  void close();
  /// Compounds that are out.
  std::size_t in_use() const { return ordinary_ + reserved_; }
  /// Goes on when in_use() is 0.
  Task<void> idle() {
    while (in_use() > 0) co_await idle_.wait();
  }

  /// For a new request: never 0, and never that of a request that is out.
  std::uint32_t next_xid();
  const std::string& machine_name() const { return machine_name_; }

 private:
  friend struct ReturnCompound;
  void give_back(Compound* compound);
  void recycle(Compound* compound);
  bool xid_in_use(std::uint32_t xid) const;

  const std::size_t most_;
  const std::string machine_name_;
  std::vector<std::unique_ptr<Compound>> all_;
  IntrusiveList<Compound> free_;
  WaitQueueOf<Acquire> waiters_;
  WaitQueue idle_;
  std::uint32_t xid_;         // the last one given out
  bool xid_wrapped_ = false;  // XIDs may come round to one that is still in use
  std::size_t ordinary_ = 0;
  std::size_t reserved_ = 0;
  bool closed_ = false;
};

}  // namespace nfsrdma::client
