// Objects with stable addresses behind 64-bit ids that never name a later object by mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace nfsrdma::fuse {

/// An id is a place and how often the place was used before, so an id that outlived its object
/// finds nothing. Ids go to the kernel and come back from it. The first id given out is 1; 0 is
/// never one. Memory is kept for reuse. Not thread safe.
template <class T>
class IdSlab {
 public:
  using Id = std::uint64_t;

  /// Makes an object; its id is id_of_next() as it was before the call.
  template <class... Args>
  T& emplace(Args&&... args) {
    const Id id = id_of_next();
    if (free_.empty()) {
      cells_.emplace_back();
    } else {
      free_.pop_back();
    }
    ++size_;
    return cells_[place_of(id)].value.emplace(std::forward<Args>(args)...);
  }
  Id id_of_next() const {
    if (free_.empty()) return make_id(cells_.size(), 0);
    return make_id(free_.back(), cells_[free_.back()].uses);
  }
  /// The object, or null when the id names none.
  T* find(Id id) {
    const std::size_t place = place_of(id);
    if (place >= cells_.size()) return nullptr;
    Cell& cell = cells_[place];
    return cell.value && make_id(place, cell.uses) == id ? &*cell.value : nullptr;
  }
  /// No effect when the id names nothing.
  void erase(Id id) {
    if (!find(id)) return;
    const std::size_t place = place_of(id);
    cells_[place].value.reset();
    ++cells_[place].uses;
    free_.push_back(static_cast<std::uint32_t>(place));
    --size_;
  }
  /// Calls visit(object) for each object; visit must not add or remove any.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Cell& cell : cells_) {
      if (cell.value) visit(*cell.value);
    }
  }
  /// Objects that exist.
  std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::optional<T> value;
    std::uint32_t uses = 0;
  };

  static Id make_id(std::size_t place, std::uint32_t uses) { return Id{uses} << 32 | (place + 1); }
  /// Wraps to a huge number for an id without a place.
  static std::size_t place_of(Id id) { return (id & UINT32_MAX) - 1; }

  std::deque<Cell> cells_;  // grows without moving its elements
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace nfsrdma::fuse
