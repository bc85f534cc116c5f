// Open files on a mount of a served directory, in virtual time.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/files.h"
#include "cache/write/commit.h"
#include "tests/cache/known_inodes.h"
#include "tests/client/served_mount.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::cache::test {

/// What tests do with open files, whatever room above the cache has made them. Tests let go of
/// their files before they end.
class OpenFilesTest : public client::test::ServedMount {
 protected:
  /// A write that is not gathered.
  static constexpr std::size_t kLarge = GatheredWrite::kGatherBelow;
  static constexpr std::size_t kSlotBytes = 2 * kLarge;
  static constexpr std::size_t kSlots = 17;  ///< one for sending again, eight for dirty data

  /// `mandatory_locks`: the server refuses I/O of locked bytes that does not name the lock.
  explicit OpenFilesTest(responder::DelegationKind delegations = {}, bool mandatory_locks = false)
      : ServedMount(delegations, client::test::ServedDirectory::kLeaseSeconds, mandatory_locks) {}
  void SetUp() override {
    ServedMount::SetUp();
    slots_ = std::move(*BufferPool::create(kSlotBytes, kSlots));
  }

  virtual Files& files() = 0;

  using ServedMount::finish;
  /// The end of a task without a result.
  void finish(Task<void> task) { run(ended(std::move(task))); }

  /// OPEN of a file of the root; an empty one is made when there is none.
  client::Opened open_served(const std::string& name,
                             std::uint32_t access = nfs4::OPEN4_SHARE_ACCESS_BOTH) {
    if (!server_.exists(name)) server_.write_file(name, "");
    return open_file(name, access);
  }
  bool gather(const FileRef& file, std::uint64_t offset, const std::string& text) {
    return files().writes().behind().take(
        file, {.offset = offset, .data = std::as_bytes(std::span(text))});
  }
  /// The same of a large write, in a slot of its own.
  bool take_over(const FileRef& file, std::uint64_t offset, const std::string& text) {
    Buffer slot = slots_->acquire();
    EXPECT_TRUE(slot);
    const auto data = std::as_bytes(std::span(text));
    std::ranges::copy(data, slot.bytes().begin());
    const FileWrite write{.offset = offset, .data = slot.first(data.size())};
    return files().writes().behind().take_over(file, write, slot);
  }
  void commit(const FileRef& file) { finish(commit_file(files().writes(), file)); }
  void flush(const FileRef& file) { finish(files().writes().behind().flush(file->shared)); }

  int writes() const { return server_.successes_of(nfs4::OP_WRITE); }
  int commits() const { return server_.successes_of(nfs4::OP_COMMIT); }

  /// What has this operation is executed, and not answered until let_go().
  void hold(nfs4::nfs_opnum4 operation) {
    server_.fate = [operation](const client::test::Arrival& arrival) {
      return arrival.has(operation) ? client::test::Fate::hold : client::test::Fate::answer;
    };
  }
  void hold_writes() { hold(nfs4::OP_WRITE); }
  /// By another connection, so that it is asked for again.
  void let_go() {
    server_.fate = nullptr;
    server_.disconnect();
  }
  int arrived_writes() const {
    return static_cast<int>(std::ranges::count_if(
        server_.arrivals(),
        [](const client::test::Arrival& arrival) { return arrival.has(nfs4::OP_WRITE); }));
  }

  std::unique_ptr<BufferPool> slots_;

  static Task<bool> ended(Task<void> task) {
    co_await task;
    co_return true;
  }
};

/// With nothing above the cache.
class ServedFiles : public OpenFilesTest {
 protected:
  using OpenFilesTest::OpenFilesTest;
  virtual DataLimits limits() const { return {}; }
  void SetUp() override {
    OpenFilesTest::SetUp();
    files_ = std::make_unique<Files>(mount(), *slots_, AttributePolicy{}, inodes_, unobserved_,
                                     limits());
    root_ = &inodes_.make_root(root());
    ASSERT_TRUE(run(files_->attributes().revalidate(root_, caller())));
  }
  void TearDown() override {
    server_.fate = nullptr;
    server_.unreachable = false;
    while (!open_.empty()) finish(begin_close(open_.back()));
    root_.reset();
    files_.reset();
    ServedMount::TearDown();
  }
  Files& files() override { return *files_; }

  FileRef open(const std::string& name, std::uint32_t access = nfs4::OPEN4_SHARE_ACCESS_BOTH) {
    return add(open_served(name, access));
  }
  /// The same by another user, who may.
  FileRef open_as(const client::Credential& user, const std::string& name) {
    std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
    std::filesystem::permissions(server_.path(name), std::filesystem::perms(0666));
    auto opened =
        run(client::open_by_name(mount(), user, root(), name, nfs4::OPEN4_SHARE_ACCESS_BOTH));
    EXPECT_TRUE(opened) << opened.error().message();
    return add(std::move(*opened));
  }
  /// close(2), up to where the server has to answer.
  Task<void> begin_close(FileRef file) {
    std::erase(open_, file);
    files_->released(*file);
    return files_->close(std::move(file));
  }
  void close(FileRef& file) { finish(begin_close(std::exchange(file, {}))); }

  int take_error(const FileRef& file) { return file->shared->errors.take(file->errors_seen); }
  std::uint64_t files_counter(std::string_view name) const {
    return testing::counter_of(*files_, name);
  }

  KnownInodes inodes_;
  InodeRef root_;

 private:
  FileRef add(client::Opened opened) {
    AttributeCache& attributes = files_->attributes();
    InodeRef inode = *attributes.adopt(opened.handle, opened.attributes, attributes.issue());
    auto shared = files_->opened(*inode, opened.preserve_unlinked);
    open_.emplace_back(new File(std::move(inode), std::move(shared), std::move(opened.open)));
    return open_.back();
  }

  Unobserved unobserved_;
  std::unique_ptr<Files> files_;
  std::vector<FileRef> open_;
};

}  // namespace nfsrdma::cache::test
