// The orders that a program can give the kernel about its caches.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fuse/channel/kernel_channel.h"
#include "fuse/kernel/page_map.h"

namespace nfsrdma::fuse {

/// Methods are called by several threads at the same time. An inode or name that the kernel does
/// not know (any more) has nothing cached: no error.
class KernelOrders {
 public:
  virtual ~KernelOrders() = default;
  /// Does not wait.
  virtual void drop_attributes(std::uint64_t inode) = 0;
  /// Returns when the pages are gone; waits for those that are locked. Drops attributes, too.
  virtual void drop_pages(std::uint64_t inode, PageRange pages) = 0;
  /// Makes the kernel look the name up again. Waits for operations on the directory.
  virtual void expire_name(std::uint64_t directory, const std::string& name) = 0;
  /// Makes the kernel forget inodes that are not in use. False: this kernel knows no such order.
  virtual bool forget_inodes(std::span<const std::uint64_t> inodes) = 0;
  /// Makes the kernel forget the name, and the inode that it leads to if nothing else keeps that.
  /// Waits for operations on the directory.
  virtual void forget_name(std::uint64_t directory, const std::string& name) = 0;
  /// Whether the kernel expires a missing name by itself when EEXIST has refuted it. Never
  /// changes.
  virtual bool doubts_refuted_names() const = 0;
  /// Whether sync_file_range(2) waits for the answers to its WRITEs, and a file can be opened so
  /// that its close(2) writes no pages. Never changes.
  virtual bool waits_for_pages() const { return false; }
};

/// Through the channel, which outlives this.
class ChannelOrders final : public KernelOrders {
 public:
  explicit ChannelOrders(KernelChannel& channel) : channel_(channel) {}
  void drop_attributes(std::uint64_t inode) override {
    constexpr std::int64_t kAttributesOnly = -1;
    notify_inval_inode(channel_, inode, kAttributesOnly, 0);
  }
  void drop_pages(std::uint64_t inode, PageRange pages) override {
    // To the kernel a length of 0 is all that follows.
    const bool to_the_end = pages.end == PageRange::all().end;
    const std::uint64_t length = to_the_end ? 0 : pages.end - pages.begin;
    notify_inval_inode(channel_, inode, static_cast<std::int64_t>(pages.begin),
                       static_cast<std::int64_t>(length));
  }
  void expire_name(std::uint64_t directory, const std::string& name) override {
    notify_expire_entry(channel_, directory, name);
  }
  bool forget_inodes(std::span<const std::uint64_t> inodes) override {
    return notify_forget_inodes(channel_, inodes) == 0;
  }
  void forget_name(std::uint64_t directory, const std::string& name) override {
    notify_forget_entry(channel_, directory, name);
  }
  bool doubts_refuted_names() const override { return fuse::doubts_refuted_names(channel_); }
  bool waits_for_pages() const override { return fuse::waits_for_pages(channel_); }

 private:
  KernelChannel& channel_;
};

}  // namespace nfsrdma::fuse
