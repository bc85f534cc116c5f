// A FileSystem on a mount of a served directory, in virtual time.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "fuse/ops/file_system.h"
#include "fuse/ops/open_file.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::fuse::test {

/// Tests let go of their files before they end.
class ServedFiles : public cache::test::OpenFilesTest {
 protected:
  using OpenFilesTest::OpenFilesTest;
  void SetUp() override {
    OpenFilesTest::SetUp();
    fs_ = std::make_unique<FileSystem>(mount(), *slots_, config());
  }
  void TearDown() override {
    server_.fate = nullptr;
    server_.unreachable = false;
    finish(fs_->finish());
    fs_.reset();
    ServedMount::TearDown();
  }
  cache::Files& files() override { return fs_->files(); }
  virtual FileSystemConfig config() const { return {}; }

  /// Opens a file of the root; an empty one is made when there is none. `answer`: what the kernel
  /// is told.
  FileRef open(const std::string& name, int flags = O_RDWR, OpenAnswer* answer = nullptr) {
    const cache::Issue issue = fs_->attributes().issue();
    client::Opened opened = open_served(name);
    auto inode = fs_->attributes().adopt(opened.handle, opened.attributes, issue);
    OpenAnswer unused;
    return add_open_file(*fs_, {*inode, std::move(opened.open), opened.preserve_unlinked}, flags,
                         answer ? *answer : unused);
  }
  void close(FileRef& file) {
    fs_->remove_file(file->id);
    finish(fs_->files().close(std::exchange(file, {})));
  }
  std::uint64_t fs_counter(std::string_view name) const {
    return nfsrdma::testing::counter_of(*fs_, name);
  }

  std::unique_ptr<FileSystem> fs_;
};

}  // namespace nfsrdma::fuse::test
