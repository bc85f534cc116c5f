// Two clients of the responder's NFSv4.1 service, which gives delegations, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "client/files/delegations.h"
#include "client/files/open_files.h"
#include "tests/client/served_mount.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::client::test {

inline constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
inline constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;
inline constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;
inline constexpr const char* kContent = "content of the file";

/// `mount()` holds the delegations, `other()` is in their way.
class Delegations : public ServedMount {
 protected:
  explicit Delegations(responder::DelegationKind kind = responder::DelegationKind::write)
      : ServedMount(kind) {
    other_messages_ = make_messages();
    other_ = make_mount(*other_messages_);
  }
  void SetUp() override {
    ServedMount::SetUp();
    auto started = run(other_->start());
    ASSERT_TRUE(started) << started.error().message();
    server_.write_file("file", kContent);
  }
  void TearDown() override {
    server_.hold_callbacks = false;
    server_.fate = nullptr;
    server_.after = nullptr;
    (void)run(other_->stop());
    other_.reset();
    ServedMount::TearDown();
  }

  Mount& other() { return *other_; }
  std::uint64_t other_counter(const std::string& name) const {
    return testing::counter_of(*other_, name);
  }
  /// Opens, and asserts that a delegation came with it or was there.
  Opened open_delegated(const std::string& name, std::uint32_t access) {
    Opened opened = open_file(name, access);
    EXPECT_TRUE(mount().delegations().held(opened.handle)) << name;
    return opened;
  }
  Result<Opened> open_at_other(const std::string& name, std::uint32_t access) {
    return run(open_by_name(other(), caller(), other().root(), name, access));
  }
  std::optional<OpenedLocally> open_here(const Opened& known, std::uint32_t access) {
    return open_locally(mount(), caller(), known.handle, access);
  }
  void close_at(Mount& where, OpenRef open) {
    auto closed = run(where.opens().close(std::move(open)));
    EXPECT_TRUE(closed) << closed.error().message();
  }
  std::size_t requests() const { return server_.arrivals().size(); }

  std::unique_ptr<BufferPool> other_messages_;
  std::unique_ptr<Mount> other_;
};

}  // namespace nfsrdma::client::test
