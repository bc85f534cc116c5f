// A Mount of a ServedDirectory in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/files/open.h"
#include "client/mount.h"
#include "tests/client/fake_mount.h"
#include "tests/client/served_channel.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::client::test {

/// Mounted when a test begins. Tests let go of their opens before it ends.
class ServedMount : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSlots = 8;
  static constexpr Duration kLease = std::chrono::seconds(ServedDirectory::kLeaseSeconds);

  explicit ServedMount(responder::DelegationKind delegations = {},
                       std::uint32_t lease_seconds = ServedDirectory::kLeaseSeconds,
                       bool mandatory_locks = false);
  /// Memory for the calls of one mount.
  static std::unique_ptr<BufferPool> make_messages();
  /// One more mount of the same directory, not started.
  std::unique_ptr<Mount> make_mount(BufferPool& messages);
  void SetUp() override;
  void TearDown() override;

  /// The result of a task, in as much virtual time as it takes (an hour at most).
  template <class T>
  T run(Task<T> task) {
    Pending<T> pending(std::move(task));
    return finish(pending);
  }
  template <class T>
  T finish(Pending<T>& pending) {
    const TimePoint limit = reactor_.now() + std::chrono::hours(1);
    while (!pending.done() && reactor_.now() < limit) {
      reactor_.settle();
      if (!pending.done()) reactor_.advance(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(pending.done()) << "the task hangs";
    if (!pending.done()) std::abort();
    return std::move(pending.value());
  }

  Mount& mount() { return *mount_; }
  const FileHandle& root() { return mount_->root(); }
  Credential caller() const;
  /// The same with one supplementary group.
  Credential member_of(std::uint32_t group) const;
  /// The first supplementary group of each request with this operation that has arrived; 0: none.
  std::vector<std::uint32_t> groups_of(nfs4::nfs_opnum4 operation) const;
  std::uint64_t counter(const std::string& name) const;
  /// Opens an existing file of the root.
  Opened open_file(const std::string& name, std::uint32_t access);
  Result<std::string> read_text(const Opened& file);
  Result<void> write_text(const Opened& file, std::uint64_t offset, const std::string& text);

  VirtualReactor reactor_;
  ServedDirectory server_;
  std::unique_ptr<BufferPool> messages_;
  std::unique_ptr<BufferPool> data_;
  std::unique_ptr<Mount> mount_;
};

}  // namespace nfsrdma::client::test
