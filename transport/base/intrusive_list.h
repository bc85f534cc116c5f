// A doubly linked list whose links live in its elements: queues on the hot path allocate nothing.
#pragma once

#include <cassert>
#include <cstddef>

namespace nfsrdma {

/// Base of anything that can stand in one IntrusiveList at a time.
class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  bool linked() const { return next_ != nullptr; }
  void unlink() {
    if (!linked()) return;
    prev_->next_ = next_;
    next_->prev_ = prev_;
    next_ = prev_ = nullptr;
  }

 private:
  template <class T>
  friend class IntrusiveList;
  ListNode* next_ = nullptr;
  ListNode* prev_ = nullptr;
};

/// Does not own its elements; an element leaves when it is unlinked or destroyed.
template <class T>
class IntrusiveList {
 public:
  IntrusiveList() { head_.next_ = head_.prev_ = &head_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() {
    while (!empty()) pop_front();
    head_.next_ = head_.prev_ = nullptr;
  }

  bool empty() const { return head_.next_ == &head_; }
  T& front() { return static_cast<T&>(*head_.next_); }

  void push_back(T& item) { insert_before(head_, item); }
  void push_front(T& item) { insert_before(*head_.next_, item); }
  T* pop_front() {
    if (empty()) return nullptr;
    ListNode* node = head_.next_;
    node->unlink();
    return static_cast<T*>(node);
  }

  /// Calls visit(item) for each element; visit may unlink the element it is given.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (ListNode* node = head_.next_; node != &head_;) {
      ListNode* next = node->next_;
      visit(static_cast<T&>(*node));
      node = next;
    }
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (ListNode* node = head_.next_; node != &head_; node = node->next_) ++count;
    return count;
  }

 private:
  static void insert_before(ListNode& place, ListNode& item) {
    assert(!item.linked());
    item.next_ = &place;
    item.prev_ = place.prev_;
    place.prev_->next_ = &item;
    place.prev_ = &item;
  }

  ListNode head_;
};

}  // namespace nfsrdma
