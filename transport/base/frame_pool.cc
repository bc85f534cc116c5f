#include "transport/base/frame_pool.h"

#include <array>
#include <new>

namespace nfsrdma {
namespace {

constexpr std::size_t kClassBytes = 256;
constexpr std::size_t kClasses = 32;  // frames up to 8 KiB are pooled
constexpr std::size_t kKeptPerClass = 512;

struct FreeFrame {
  FreeFrame* next;
};

struct ThreadFrames {
  struct List {
    FreeFrame* head = nullptr;
    std::size_t count = 0;
  };
  std::array<List, kClasses> lists{};

  ~ThreadFrames() {
    for (auto& list : lists) {
      while (list.head) {
        auto* frame = list.head;
        list.head = frame->next;
        ::operator delete(frame);
      }
    }
  }
};

ThreadFrames& frames() {
  thread_local ThreadFrames instance;
  return instance;
}

std::size_t class_of(std::size_t size) { return (size + kClassBytes - 1) / kClassBytes; }

}  // namespace

void* FramePool::allocate(std::size_t size) {
  const auto index = class_of(size);
  if (index >= kClasses) return ::operator new(size);
  auto& list = frames().lists[index];
  if (!list.head) return ::operator new(index* kClassBytes);
  auto* frame = list.head;
  list.head = frame->next;
  --list.count;
  return frame;
}

void FramePool::release(void* frame, std::size_t size) noexcept {
  const auto index = class_of(size);
  if (index >= kClasses) return ::operator delete(frame);
  auto& list = frames().lists[index];
  if (list.count >= kKeptPerClass) return ::operator delete(frame);
  list.head = new (frame) FreeFrame{list.head};
  ++list.count;
}

}  // namespace nfsrdma
