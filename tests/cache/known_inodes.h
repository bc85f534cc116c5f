// A room above the cache that has nothing to add.
#pragma once

#include <list>

#include "cache/file/inode_index.h"
#include "cache/file/inode_observer.h"

namespace nfsrdma::cache::test {

/// Inodes that go when nothing refers to them; the root goes with this.
class KnownInodes final : public InodeIndex {
 public:
  std::size_t count() const { return inodes_.size(); }
  std::size_t most = ~std::size_t{0};

 private:
  struct Known final : Inode {
    Known(KnownInodes& all, const client::FileHandle& handle) : Inode(handle), of(all) {}
    void unused() override {
      of.erase(*this);
      of.inodes_.remove_if([this](const Known& inode) { return &inode == this; });
    }
    KnownInodes& of;
  };
  Inode* make(const client::FileHandle& handle) override {
    return count() < most ? &inodes_.emplace_back(*this, handle) : nullptr;
  }

  std::list<Known> inodes_;
};

struct Unobserved : InodeObserver {
  virtual ~Unobserved() = default;
  void on_own_change(Inode&, std::uint64_t, std::uint64_t) override {}
  void on_names_changed(Inode&) override {}
  void on_attributes_doubted(Inode&) override {}
  void on_changed_unseen(Inode&) override {}
  Task<void> write_stores(InodeRef) override { co_return; }
};

}  // namespace nfsrdma::cache::test
