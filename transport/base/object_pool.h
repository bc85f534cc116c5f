// Objects that are made once and used again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace nfsrdma {

/// I5: holds only objects without any work outstanding; T::reset() asserts that, and empties the
/// object. Belongs to one shard. Taking and giving back allocate nothing.
template <class T>
class ObjectPool {
 public:
  /// `make(pool)` makes one of the `count` objects.
  template <class Make>
  ObjectPool(std::size_t count, Make make) {
    all_.reserve(count);
    free_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      all_.push_back(make(*this));
      free_.push_back(all_.back().get());
    }
  }
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  /// Null when all are in use.
  T* take() {
    if (free_.empty()) return nullptr;
    T* const object = free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T& object) {
    object.reset();
    free_.push_back(&object);  // the most recently used one is the warmest
  }
  std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

}  // namespace nfsrdma
