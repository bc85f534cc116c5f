// A FileSystem on a mount of a served directory, in virtual time.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cache/files.h"
#include "cache/write/commit.h"
#include "fuse/ops/file_system.h"
#include "fuse/ops/open_file.h"
#include "tests/client/served_mount.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::fuse::test {

/// Tests let go of their files before they end.
class ServedFiles : public client::test::ServedMount {
 protected:
  static constexpr std::size_t kSlotBytes = 2 * cache::GatheredWrite::kGatherBelow;
  static constexpr std::size_t kSlots = 17;  ///< one for sending again, four for gathering

  explicit ServedFiles(responder::DelegationKind delegations = {}) : ServedMount(delegations) {}
  void SetUp() override {
    ServedMount::SetUp();
    slots_ = std::move(*BufferPool::create(kSlotBytes, kSlots));
    fs_ = std::make_unique<FileSystem>(mount(), *slots_, FileSystemConfig{});
  }
  void TearDown() override {
    server_.fate = nullptr;
    server_.unreachable = false;
    finish(fs_->finish());
    fs_.reset();
    ServedMount::TearDown();
  }

  using ServedMount::finish;
  /// The end of a task without a result.
  void finish(Task<void> task) { run(ended(std::move(task))); }

  /// Opens a file of the root; an empty one is made when there is none. `answer`: what the kernel
  /// is told.
  FileRef open(const std::string& name, int flags = O_RDWR, OpenAnswer* answer = nullptr) {
    if (!server_.exists(name)) server_.write_file(name, "");
    const cache::Issue issue = fs_->attributes().issue();
    return add(open_file(name, nfs4::OPEN4_SHARE_ACCESS_BOTH), issue, flags, answer);
  }
  /// The same by another user, who may.
  FileRef open_as(const client::Credential& user, const std::string& name) {
    std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
    std::filesystem::permissions(server_.path(name), std::filesystem::perms(0666));
    const cache::Issue issue = fs_->attributes().issue();
    auto opened =
        run(client::open_by_name(mount(), user, root(), name, nfs4::OPEN4_SHARE_ACCESS_BOTH));
    EXPECT_TRUE(opened) << opened.error().message();
    return add(std::move(*opened), issue, O_RDWR, nullptr);
  }
  FileRef add(client::Opened opened, const cache::Issue& issue, int flags, OpenAnswer* answer) {
    InodeRef inode = fs_->adopt(opened.handle, opened.attributes, issue, cache::ChangedBy::anyone);
    OpenAnswer unused;
    return add_open_file(*fs_, std::move(inode), std::move(opened.open), opened.preserve_unlinked,
                         flags, answer ? *answer : unused);
  }
  void close(FileRef& file) {
    fs_->remove_file(file->id);
    finish(fs_->files().close(std::exchange(file, {})));
  }

  bool gather(const FileRef& file, std::uint64_t offset, const std::string& text) {
    return fs_->files().writes().behind().take(file, nullptr, offset,
                                               std::as_bytes(std::span(text)));
  }
  void commit(const FileRef& file) { finish(cache::commit_file(fs_->files().writes(), file)); }
  void flush(const FileRef& file) { finish(fs_->files().writes().behind().flush(file->shared)); }

  int writes() const { return server_.successes_of(nfs4::OP_WRITE); }
  int commits() const { return server_.successes_of(nfs4::OP_COMMIT); }
  std::uint64_t fs_counter(std::string_view name) const {
    return nfsrdma::testing::counter_of(*fs_, name);
  }

  std::unique_ptr<BufferPool> slots_;
  std::unique_ptr<FileSystem> fs_;

 private:
  static Task<bool> ended(Task<void> task) {
    co_await task;
    co_return true;
  }
};

}  // namespace nfsrdma::fuse::test
