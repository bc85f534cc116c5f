// Requests of a kernel to a FileSystem on a served mount, in virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "fuse/ops/operations.h"
#include "tests/fuse/channel/fake_kernel.h"
#include "tests/fuse/ops/served_files.h"

namespace nfsrdma::fuse::test {

/// Files are made on the server's side (`server_`), and used as the kernel would use them.
class KernelRequests : public ServedFiles {
 protected:
  static constexpr std::uint64_t kRoot = FUSE_ROOT_ID;
  static constexpr std::uint64_t kLast = INT64_MAX;  ///< of a lock to any end

  /// An inode of the kernel's, and an open file of it.
  struct Opened {
    std::uint64_t node = 0;
    std::uint64_t fh = 0;
    std::uint32_t flags = 0;       ///< of open(2)
    std::uint32_t open_flags = 0;  ///< FOPEN_*
  };

  using ServedFiles::ServedFiles;

  void SetUp() override {
    ServedFiles::SetUp();
    message_slots_ = std::move(*BufferPool::create(kMessageSlot, kMessageSlots));
    make_kernel();
  }
  void TearDown() override {
    EXPECT_EQ(kernel_->in_flight().running(), 0U) << "an operation goes on";
    ServedFiles::TearDown();
    EXPECT_EQ(kernel_->counters().unanswered.value(), 0U);
    EXPECT_EQ(message_slots_->available(), kMessageSlots) << "a slot is lost";
    kernel_.reset();
  }

  void make_kernel(AnswerLimit limit = {}) {
    kernel_.reset();
    kernel_ = std::make_unique<FakeKernel>(reactor_, *message_slots_,
                                           Serving{operations(), fs_.get(), {}}, std::move(limit));
    mount().watch_callers([this](Origin caller) { return kernel_->in_flight().released(caller); });
  }
  /// soft: whoever has waited for kSoft has this error.
  static constexpr std::chrono::seconds kSoft{3};
  void make_soft_kernel(int error_number) {
    make_kernel({.longest = kSoft, .error_number = error_number, .waiting_since = [] {
                   return TimePoint{0};
                 }});
  }
  /// The kernel is told what it has cached wrongly: notifications() has it.
  void attach() { fs_->attach(*kernel_); }

  template <class... Parts>
  std::uint64_t begin(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    return kernel_->send_request(opcode, node, parts...);
  }
  /// The answer, in as much virtual time as it takes.
  Answer end(std::uint64_t unique) {
    const TimePoint limit = reactor_.now() + std::chrono::minutes(10);
    while (!kernel_->answered(unique) && reactor_.now() < limit) {
      let_threads_notify(unique);
      reactor_.settle();
      if (!kernel_->answered(unique)) reactor_.advance(std::chrono::milliseconds(100));
    }
    reactor_.settle();
    return kernel_->take_answer(unique);
  }
  template <class... Parts>
  Answer ask(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    return end(begin(opcode, node, parts...));
  }

  fuse_entry_out lookup(const std::string& name, std::uint64_t parent = kRoot) {
    const Answer found = ask(FUSE_LOOKUP, parent, name);
    EXPECT_EQ(found.error, 0) << name;
    return found.as<fuse_entry_out>();
  }
  /// Of a file that exists, or is made empty by the server.
  Opened kernel_open(const std::string& name, int flags = O_RDWR) {
    if (!server_.exists(name)) server_.write_file(name, "");
    return open_node(lookup(name).nodeid, flags);
  }
  Opened open_node(std::uint64_t node, int flags = O_RDWR) {
    const auto wanted = static_cast<std::uint32_t>(flags);
    const Answer answer = ask(FUSE_OPEN, node, fuse_open_in{wanted, 0});
    EXPECT_EQ(answer.error, 0);
    const auto out = answer.as<fuse_open_out>();
    return {node, out.fh, wanted, out.open_flags};
  }
  Opened open_directory(std::uint64_t node = kRoot) {
    const Answer answer = ask(FUSE_OPENDIR, node, fuse_open_in{});
    EXPECT_EQ(answer.error, 0);
    return {node, answer.as<fuse_open_out>().fh};
  }
  void close_directory(const Opened& directory) {
    EXPECT_EQ(ask(FUSE_RELEASEDIR, directory.node, fuse_release_in{.fh = directory.fh}).error, 0);
  }

  static fuse_read_in read_in(const Opened& file, std::uint64_t offset, std::uint32_t size) {
    fuse_read_in in{};
    in.fh = file.fh;
    in.offset = offset;
    in.size = size;
    in.flags = file.flags;
    if ((file.flags & O_DIRECT) != 0) in.read_flags = FUSE_READ_LOCKOWNER;
    return in;
  }
  Answer read(const Opened& file, std::uint64_t offset, std::uint32_t size) {
    return ask(FUSE_READ, file.node, read_in(file, offset, size));
  }
  static fuse_write_in write_in(const Opened& file, std::uint64_t offset, std::size_t size,
                                std::uint32_t write_flags = 0) {
    fuse_write_in in{};
    in.fh = file.fh;
    in.offset = offset;
    in.size = static_cast<std::uint32_t>(size);
    in.write_flags = write_flags;
    in.flags = file.flags;
    return in;
  }
  std::uint64_t begin_write(const Opened& file, std::uint64_t offset, std::string_view text,
                            std::uint32_t write_flags = 0) {
    return begin(FUSE_WRITE, file.node, write_in(file, offset, text.size(), write_flags),
                 std::as_bytes(std::span(text)));
  }
  /// The errno value, 0 when the whole text was taken.
  int write(const Opened& file, std::uint64_t offset, std::string_view text,
            std::uint32_t write_flags = 0) {
    const Answer answer = end(begin_write(file, offset, text, write_flags));
    if (answer.error == 0) {
      EXPECT_EQ(answer.as<fuse_write_out>().size, text.size());
    }
    return answer.error;
  }
  int fsync(const Opened& file) {
    return ask(FUSE_FSYNC, file.node, fuse_fsync_in{.fh = file.fh}).error;
  }
  int flush(const Opened& file, std::uint64_t lock_owner = 0) {
    fuse_flush_in in{};
    in.fh = file.fh;
    in.lock_owner = lock_owner;
    return ask(FUSE_FLUSH, file.node, in).error;
  }
  void release(const Opened& file, std::uint64_t lock_owner = 0) {
    fuse_release_in in{};
    in.fh = file.fh;
    in.lock_owner = lock_owner;
    EXPECT_EQ(ask(FUSE_RELEASE, file.node, in).error, 0);
    // The close comes after the answer.
    for (int i = 0; i < 100 && kernel_->in_flight().running() > 0; ++i) {
      reactor_.advance(std::chrono::milliseconds(100));
    }
  }
  /// As after the file was read: the kernel takes what it was told for out of date.
  fuse_attr getattr(std::uint64_t node) {
    if (const InodeRef inode = fs_->inodes().find(node)) inode->view().asks_again();
    return getattr_early(node);
  }
  /// Though the kernel was told to believe what it has.
  fuse_attr getattr_early(std::uint64_t node) {
    const Answer answer = ask(FUSE_GETATTR, node, fuse_getattr_in{});
    EXPECT_EQ(answer.error, 0);
    return answer.as<fuse_attr_out>().attr;
  }
  void forget(std::uint64_t node, std::uint64_t count) {
    begin(FUSE_FORGET, node, fuse_forget_in{count});
  }
  /// Orders to drop pages of an inode, so far.
  /// Returns when that has happened which a thread does. No virtual time passes.
  template <class Happened>
  void wait_for_thread(Happened happened) {
    while (!happened()) {
      reactor_.settle();
      if (!happened()) std::this_thread::yield();
    }
  }
  bool attributes_dropped(std::uint64_t node) const {
    return std::ranges::any_of(kernel_->notifications(), [node](const Notification& order) {
      return order.code == FUSE_NOTIFY_INVAL_INODE && order.node == node && order.offset < 0;
    });
  }
  std::vector<Notification> drops_of(std::uint64_t node) const {
    std::vector<Notification> drops;
    for (Notification& order : kernel_->notifications()) {
      const bool pages = order.code == FUSE_NOTIFY_INVAL_INODE && order.offset >= 0;
      if (pages && order.node == node) drops.push_back(std::move(order));
    }
    return drops;
  }
  bool known(std::uint64_t node) { return static_cast<bool>(fs_->inodes().find(node)); }

  std::string text_of(std::size_t size) const {
    std::string text;
    while (text.size() < size) text += "byte " + std::to_string(text.size()) + ' ';
    text.resize(size);
    return text;
  }

  /// More than the server takes or gives in one request.
  static constexpr std::size_t kMessageSlot = 2 * kMaxTransfer + kHeaderRoom;
  static constexpr std::size_t kMessageSlots = 8;
  std::unique_ptr<BufferPool> message_slots_;
  std::unique_ptr<FakeKernel> kernel_;

 private:
  /// Orders to drop pages are sent by threads, which know no virtual time.
  void let_threads_notify(std::uint64_t unique) {
    constexpr int kYields = 2000;
    if (kernel_->notifications().empty() && fs_counter("fs_notifications") == 0) return;
    for (int i = 0; i < kYields && !kernel_->answered(unique); ++i) {
      reactor_.settle();
      std::this_thread::yield();
    }
  }
};

}  // namespace nfsrdma::fuse::test
