// A Mount on a FakeServer in virtual time: leases of 90 s pass in microseconds.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "client/mount.h"
#include "tests/client/fake_server.h"
#include "tests/client/run_task.h"
#include "tests/support/virtual_reactor.h"
#include "transport/base/buffer.h"

namespace nfsrdma::client::test {

/// A task in flight; its result when it has one.
template <class T>
class Pending {
 public:
  explicit Pending(Task<T> task) { spawn(store(std::move(task), out_.get())); }
  bool done() const { return out_->has_value(); }
  T& value() { return **out_; }

 private:
  std::shared_ptr<std::optional<T>> out_ = std::make_shared<std::optional<T>>();
};

class FakeMount : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSlots = 8;

  FakeMount();
  void TearDown() override;

  /// Replaces the mount by one of this configuration, with so many slots; before start().
  void configure(MountConfig config, std::uint32_t slots = kSlots);
  /// Mounts, and forgets the calls that it took.
  void start();
  Result<void> try_start();

  /// The result of a task, in as much virtual time as it takes (an hour at most).
  template <class T>
  T run(Task<T> task) {
    Pending<T> pending(std::move(task));
    constexpr int kMinutes = 60;
    for (int i = 0; i < kMinutes && !pending.done(); ++i) {
      reactor_.settle();
      if (!pending.done()) reactor_.advance(std::chrono::minutes(1));
    }
    EXPECT_TRUE(pending.done()) << "the task hangs";
    if (!pending.done()) std::abort();
    return std::move(pending.value());
  }

  Mount& mount() { return *mount_; }
  std::uint64_t counter(const std::string& name) const;
  /// A handle of one byte.
  static FileHandle handle(int number);
  /// Calls since start().
  std::vector<Arrival> arrivals() const;

  VirtualReactor reactor_;
  FakeServer server_{reactor_};
  std::unique_ptr<BufferPool> messages_;
  std::unique_ptr<Mount> mount_;
  std::size_t mounted_after_ = 0;
  std::uint64_t expected_stalls_ = 0;
  bool expect_clean_ = true;  ///< the server must have seen no violation
  bool stopped_ = false;
  std::uint32_t lease_seconds_ = 90;  ///< FATTR4_LEASE_TIME
};

}  // namespace nfsrdma::client::test
