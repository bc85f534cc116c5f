// Orders that are collected instead of followed, and a mount of a served directory behind it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/attr/from_server.h"
#include "cache/files.h"
#include "client/files/open_files.h"
#include "client/requests/getattr.h"
#include "fuse/kernel/inode_table.h"
#include "fuse/kernel/kernel_caches.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::fuse::test {

/// Orders come from the threads that give them.
class CollectedOrders final : public KernelOrders {
 public:
  void drop_attributes(std::uint64_t) override {
    const std::lock_guard lock(mutex_);
    ++attributes_;
  }
  void drop_pages(std::uint64_t, PageRange pages) override {
    std::unique_lock lock(mutex_);
    pages_.push_back(pages);
    let_go_.wait(lock, [this] { return !locked_; });
  }
  void expire_name(std::uint64_t, const std::string& name) override {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
  }
  bool forget_inodes(std::span<const std::uint64_t> inodes) override {
    const std::lock_guard lock(mutex_);
    if (!forgets_inodes_) return false;
    inodes_.insert(inodes_.end(), inodes.begin(), inodes.end());
    return true;
  }
  void forget_name(std::uint64_t, const std::string& name) override {
    const std::lock_guard lock(mutex_);
    forgotten_.push_back(name);
  }
  bool doubts_refuted_names() const override { return doubts_refuted_names_; }

  /// As Linux 6.1.
  void believes_refuted_names() { doubts_refuted_names_ = false; }
  /// As Linux before 6.18.
  void forgets_names_only() { forgets_inodes_ = false; }
  /// Some pages are locked: orders to drop them do not end meanwhile.
  void lock_pages(bool locked) {
    const std::lock_guard lock(mutex_);
    locked_ = locked;
    let_go_.notify_all();
  }
  /// What has been ordered since the last call.
  std::vector<PageRange> dropped_pages() { return take(pages_); }
  std::vector<std::string> expired_names() { return take(names_); }
  std::vector<std::uint64_t> forgotten_inodes() { return take(inodes_); }
  std::vector<std::string> forgotten_names() { return take(forgotten_); }
  int dropped_attributes() {
    const std::lock_guard lock(mutex_);
    return std::exchange(attributes_, 0);
  }

 private:
  template <class T>
  T take(T& what) {
    const std::lock_guard lock(mutex_);
    return std::exchange(what, {});
  }

  bool doubts_refuted_names_ = true;
  bool forgets_inodes_ = true;
  std::mutex mutex_;
  std::condition_variable let_go_;
  std::vector<PageRange> pages_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> inodes_;
  std::vector<std::string> forgotten_;
  int attributes_ = 0;
  bool locked_ = false;
};

class KernelTest : public client::test::ServedMount {
 protected:
  static constexpr std::size_t kSlotBytes = 2 * cache::GatheredWrite::kGatherBelow;
  static constexpr std::size_t kSlots = 17;
  static constexpr Duration kTurn = std::chrono::milliseconds(100);

  void SetUp() override {
    ServedMount::SetUp();
    slots_ = std::move(*BufferPool::create(kSlotBytes, kSlots));
    start({});
  }
  void TearDown() override {
    kernel_->lock_pages(false);
    await(caches_->stop());
    caches_.reset();
    files_.reset();
    inodes_.reset();
    ServedMount::TearDown();
  }

  /// Mounts once more, with other timeouts.
  void start(cache::AttributePolicy policy) {
    caches_.reset();
    files_.reset();
    inodes_ = std::make_unique<InodeTable>();
    files_ = std::make_unique<cache::Files>(mount(), *slots_, policy, *inodes_, observer_);
    caches_ = std::make_unique<KernelCaches>(files_->attributes(), reactor_, KernelCachesConfig{});
    caches_->attach(kernel_);
    learn(with_view(inodes_->make_root(mount().root())), mount().root_attributes());
  }

  /// The end of a task that may wait for the kernel, which takes its time in another thread, and
  /// for virtual time.
  void await(Task<void> task) {
    client::test::Pending<bool> pending(ended(std::move(task)));
    for (int i = 0; i < 50 && !soon([&] { return pending.done(); }, kTurn); ++i) {
      reactor_.advance(kTurn);
    }
    EXPECT_TRUE(pending.done());
  }
  template <class Condition>
  bool soon(Condition&& condition, Duration patience = std::chrono::seconds(10)) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!condition() && std::chrono::steady_clock::now() < limit) {
      reactor_.settle();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return condition();
  }

  /// Opens a file of the root as a program does; `keeps`: whether the kernel keeps its pages.
  FileRef open(const std::string& name, bool* keeps = nullptr) {
    if (!server_.exists(name)) server_.write_file(name, "text");
    auto opened = open_file(name, nfs4::OPEN4_SHARE_ACCESS_BOTH);
    InodeRef inode = with_view(inodes_->obtain(opened.handle, opened.attributes.fileid, S_IFREG));
    learn(*inode, opened.attributes);
    const bool kept = caches_->keeps_pages_at_open(*inode);
    if (keeps) *keeps = kept;
    auto shared = files_->opened(*inode, opened.preserve_unlinked);
    auto seen = inode->view().opened(reactor_);
    return FileRef(
        new File(std::move(inode), std::move(shared), std::move(opened.open), std::move(seen)));
  }
  void close(FileRef& file) {
    files_->released(*file);
    await(files_->close(std::exchange(file, {})));
  }
  /// read(2) through the page cache.
  void read(const FileRef& file, PageRange bytes) {
    file->node().view().pages_cached(bytes);
    file->seen->after_drop.add(bytes);
    caches_->revalidation_timer().add(*file);
  }
  void write(const FileRef& file) {
    const std::string text = "written here";
    ASSERT_TRUE(files_->writes().behind().take(file, {.data = std::as_bytes(std::span(text))}));
    await(files_->writes().behind().flush(file->shared));
  }
  void change_elsewhere(const std::string& name) {
    client::Opened elsewhere = open_file(name, nfs4::OPEN4_SHARE_ACCESS_BOTH);
    ASSERT_TRUE(write_text(elsewhere, 0, "changed elsewhere"));
    ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
  }
  /// A server whose change attributes are as slow as the clock of its files: another client has
  /// written, and only the size tells.
  void grow_within_a_tick(const FileRef& file, std::uint64_t bytes) {
    auto attributes = run(client::getattr(mount(), {}, file->inode->handle()));
    ASSERT_TRUE(attributes);
    attributes->size = file->inode->attributes().value().size + bytes;
    learn(file->node(), *attributes);
  }
  /// stat(2): asks the server, and shows what it says.
  void show(const FileRef& file) {
    EXPECT_TRUE(run(files_->attributes().revalidate(file)));
    if (caches_->pages_outdated(file->node())) {
      await(caches_->drop_outdated_pages(&file->node()));
    }
    caches_->advertised(file->node());
  }
  static std::uint64_t version(const FileRef& file) {
    return file->inode->attributes().value().change;
  }

  std::unique_ptr<BufferPool> slots_;
  std::unique_ptr<InodeTable> inodes_;
  std::unique_ptr<cache::Files> files_;
  std::unique_ptr<KernelCaches> caches_;
  std::shared_ptr<CollectedOrders> kernel_ = std::make_shared<CollectedOrders>();

 private:
  /// Files is made before KernelCaches.
  struct Observer final : cache::InodeObserver {
    explicit Observer(std::unique_ptr<KernelCaches>& of) : to(of) {}
    cache::InodeObserver& real() { return *to; }
    void on_own_change(cache::Inode& inode, std::uint64_t before, std::uint64_t after) override {
      real().on_own_change(inode, before, after);
    }
    void on_names_changed(cache::Inode& directory) override { real().on_names_changed(directory); }
    void on_attributes_doubted(cache::Inode& inode) override {
      real().on_attributes_doubted(inode);
    }
    void on_changed_unseen(cache::Inode& inode) override { real().on_changed_unseen(inode); }
    Task<void> write_stores(cache::InodeRef inode) override {
      return real().write_stores(std::move(inode));
    }
    std::unique_ptr<KernelCaches>& to;
  };

  void learn(Inode& inode, const client::Attributes& attributes) {
    cache::AttributeCache& known = files_->attributes();
    known.learn(inode, attributes, known.issue(), cache::ChangedBy::anyone);
  }
  static Task<bool> ended(Task<void> task) {
    co_await task;
    co_return true;
  }

  Observer observer_{caches_};
};

}  // namespace nfsrdma::fuse::test
