#include "cache/data/read_piece.h"

#include <algorithm>

namespace nfsrdma::cache {
namespace {

/// The part of the pool that is left to requests and writes.
constexpr std::size_t kLeftToOthers = 4;

}  // namespace

void intrusive_ptr_release(ReadPiece* piece) {
  if (--piece->references_ == 0) piece->memory.give_back(*piece);
}

ReadPieceRef ReadPieceMemory::acquire() {
  if (in_use() >= most_ || pool_.available() <= pool_.slots() / kLeftToOthers) return {};
  if (free_.empty()) {
    all_.push_back(std::make_unique<ReadPiece>(*this, reactor_));
    free_.push_back(all_.back().get());
  }
  ReadPieceRef piece(free_.back());
  free_.pop_back();
  piece->slot = pool_.acquire();
  piece->state = ReadPiece::State::in_flight;
  piece->valid = piece->used = 0;
  piece->ended = false;
  return piece;
}

void ReadPieceMemory::give_back(ReadPiece& piece) {
  const std::size_t used = std::min(piece.used, piece.valid);
  fetched_.add(piece.valid);
  used_.add(used);
  dropped_.add(piece.valid - used);
  piece.slot.reset();
  piece.by = {};
  free_.push_back(&piece);
}

void ReadPieceMemory::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_read_ahead_slots", in_use());
  visitor.visit("cache_read_ahead_bytes", fetched_.value());
  visitor.visit("cache_read_ahead_bytes_used", used_.value());
  visitor.visit("cache_read_ahead_bytes_dropped", dropped_.value());
}

}  // namespace nfsrdma::cache
