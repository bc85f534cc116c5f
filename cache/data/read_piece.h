// Bytes of a file that are read before a program asks for them, in registered memory.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/compound/state_holder.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

class ReadPieceMemory;

/// The bytes of one READ. The slot is lent to that READ until it has ended, even when no stream
/// holds the piece any more.
struct ReadPiece {
  enum class State : std::uint8_t {
    in_flight,
    ready,
    dropped,  ///< the READ failed, or its bytes are out of date: never answer from it
  };

  ReadPiece(ReadPieceMemory& of, Reactor& reactor) : waiting(reactor), memory(of) {}

  /// Bytes of the file that it has, or will have if the file does not end before.
  std::uint64_t end() const { return offset + length; }
  bool has(std::uint64_t byte) const { return byte >= offset && byte < end(); }
  /// Marks the piece as useless and wakes those that wait for it.
  void drop() {
    state = State::dropped;
    waiting.wake_all();
  }

  Buffer slot;
  client::StateRef by;  ///< in whose name it is read
  std::uint64_t offset = 0;
  std::size_t length = 0;  ///< bytes asked for
  std::size_t valid = 0;   ///< bytes that came
  std::size_t used = 0;    ///< bytes that programs have had
  TimePoint issued{};
  std::uint64_t taken_before = 0;  ///< ReadStream::taken() when it was sent
  State state = State::in_flight;
  bool ended = false;  ///< the file ended behind what came
  WaitQueue waiting;   ///< for it to arrive

 private:
  friend class ReadPieceMemory;
  friend void intrusive_ptr_add_ref(ReadPiece* piece) { ++piece->references_; }
  friend void intrusive_ptr_release(ReadPiece* piece);

  ReadPieceMemory& memory;
  std::uint32_t references_ = 0;
};

using ReadPieceRef = boost::intrusive_ptr<ReadPiece>;

/// One for each mount; belongs to its shard. Outlives its pieces.
class ReadPieceMemory {
 public:
  /// At most `most` slots of the pool, which outlives this, and none that would leave it with less
  /// than a quarter.
  ReadPieceMemory(Reactor& reactor, BufferPool& pool, std::size_t most)
      : reactor_(reactor), pool_(pool), most_(most) {
    all_.reserve(most);
    free_.reserve(most);
  }
  ReadPieceMemory(const ReadPieceMemory&) = delete;
  ReadPieceMemory& operator=(const ReadPieceMemory&) = delete;

  /// Empty when there is no memory for it.
  ReadPieceRef acquire();
  std::size_t most() const { return most_; }
  std::size_t in_use() const { return all_.size() - free_.size(); }
  std::size_t slot_size() const { return pool_.slot_size(); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  friend void intrusive_ptr_release(ReadPiece* piece);
  void give_back(ReadPiece& piece);

  Reactor& reactor_;
  BufferPool& pool_;
  const std::size_t most_;
  std::vector<std::unique_ptr<ReadPiece>> all_;  ///< made when first needed
  std::vector<ReadPiece*> free_;
  Counter fetched_;
  Counter used_;
  Counter dropped_;
};

}  // namespace nfsrdma::cache
