// Objects with stable addresses behind 64-bit ids that never name a later object by mistake.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace nfsrdma::fuse {

/// An id is a place and how often the place was used before, so an id that outlived its object
/// finds nothing. Ids go to the kernel and come back from it. The first id given out is 1; 0 is
/// never one. Places are in blocks: the first block with room is used first, and one without
/// objects is freed, but for the first. Not thread safe.
template <class T>
class IdSlab {
 public:
  using Id = std::uint64_t;
  static constexpr std::size_t kBlock = 64;  ///< places of a block

  /// Makes an object; its id is id_of_next() as it was before the call.
  template <class... Args>
  T& emplace(Args&&... args) {
    if (with_room_.empty()) {
      slots_.emplace_back();
      with_room_.push(slots_.size() - 1);
    }
    Slot& slot = slots_[with_room_.top()];
    if (!slot.block) slot.block = std::make_unique<Block>(slot.uses);
    const std::size_t place = slot.block->first_free();
    slot.block->taken |= bit(place);
    if (slot.block->taken == kFull) with_room_.pop();
    ++size_;
    return slot.block->cells[place].value.emplace(std::forward<Args>(args)...);
  }
  Id id_of_next() const {
    if (with_room_.empty()) return make_id(slots_.size() * kBlock, 0);
    const std::size_t first = with_room_.top() * kBlock;
    const Slot& slot = slots_[with_room_.top()];
    if (!slot.block) return make_id(first, slot.uses);
    const std::size_t place = slot.block->first_free();
    return make_id(first + place, slot.block->cells[place].uses);
  }
  /// The object, or null when the id names none.
  T* find(Id id) {
    Cell* const cell = cell_of(id);
    return cell ? &*cell->value : nullptr;
  }
  /// No effect when the id names nothing.
  void erase(Id id) {
    Cell* const cell = cell_of(id);
    if (!cell) return;
    // Its end may erase others; the block stays meanwhile, as this place is still taken.
    cell->value.reset();
    ++cell->uses;
    --size_;
    const std::size_t index = place_of(id) / kBlock;
    Slot& slot = slots_[index];
    if (slot.block->taken == kFull) with_room_.push(index);
    slot.block->taken &= ~bit(place_of(id) % kBlock);
    if (slot.block->taken != 0 || index == 0) return;
    slot.uses = slot.block->most_uses();
    slot.block.reset();
  }
  /// Calls visit(object) for each object; visit must not add or remove any.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Slot& slot : slots_) visit_block(slot, visit);
  }
  /// The same for the objects of so many blocks from this one on. Returns the block after them, 0
  /// after the last.
  template <class Visit>
  std::size_t visit_blocks(std::size_t from, std::size_t count, Visit&& visit) {
    const std::size_t end = std::min(from + count, slots_.size());
    for (std::size_t index = from; index < end; ++index) visit_block(slots_[index], visit);
    return end == slots_.size() ? 0 : end;
  }
  /// Objects that exist.
  std::size_t size() const { return size_; }
  /// Blocks that have memory.
  std::size_t blocks() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_, [](const Slot& slot) { return slot.block != nullptr; }));
  }

 private:
  static constexpr std::uint64_t kFull = UINT64_MAX;
  static_assert(kBlock == 64, "a bit for each place");

  struct Cell {
    std::optional<T> value;
    std::uint32_t uses = 0;
  };
  struct Block {
    explicit Block(std::uint32_t uses) {
      for (Cell& cell : cells) cell.uses = uses;
    }
    std::size_t first_free() const { return static_cast<std::size_t>(std::countr_one(taken)); }
    std::uint32_t most_uses() const {
      std::uint32_t most = 0;
      for (const Cell& cell : cells) most = std::max(most, cell.uses);
      return most;
    }
    std::array<Cell, kBlock> cells;
    std::uint64_t taken = 0;
  };
  struct Slot {
    std::unique_ptr<Block> block;
    std::uint32_t uses = 0;  ///< without a block: none of its places was used more often
  };

  static std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }
  static Id make_id(std::size_t place, std::uint32_t uses) { return Id{uses} << 32 | (place + 1); }
  /// Wraps to a huge number for an id without a place.
  static std::size_t place_of(Id id) { return (id & UINT32_MAX) - 1; }

  Cell* cell_of(Id id) {
    const std::size_t place = place_of(id);
    if (place / kBlock >= slots_.size()) return nullptr;
    Block* const block = slots_[place / kBlock].block.get();
    if (!block) return nullptr;
    Cell& cell = block->cells[place % kBlock];
    return cell.value && make_id(place, cell.uses) == id ? &cell : nullptr;
  }
  template <class Visit>
  static void visit_block(Slot& slot, Visit& visit) {
    if (!slot.block) return;
    for (Cell& cell : slot.block->cells) {
      if (cell.value) visit(*cell.value);
    }
  }

  std::vector<Slot> slots_;
  /// Indexes of blocks with room, the first on top.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> with_room_;
  std::size_t size_ = 0;
};

}  // namespace nfsrdma::fuse
