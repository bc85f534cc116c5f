// The fixture of tests that look at requests of a real mount while these wait for their answers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

#include "tests/fuse/channel/holding_fs.h"
#include "tests/fuse/channel/mounted_session.h"

namespace nfsrdma::testing {

/// A fixture that derives from it calls mount() in SetUp().
class HoldingTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (mounted_) mounted_->on_shard([this] { files_.held.clear(); });
  }

  /// `arguments`: those of MountedSession behind its file system.
  template <class... Arguments>
  void mount(Arguments... arguments) {
    mounted_ =
        std::make_unique<MountedSession>(HoldingFileSystem::handlers(), files_, arguments...);
    file_ = mounted_->path(HoldingFileSystem::kHeld.data());
  }
  /// Requests that wait for their answers.
  std::size_t held() {
    std::size_t now = 0;
    mounted_->on_shard([&] { now = files_.held.size(); });
    return now;
  }
  void wait_for_held(std::size_t count) {
    wait_until([&] { return held() == count; });
  }
  std::uint64_t count(Counter fuse::ChannelCounters::*counter) { return mounted_->count(counter); }

  HoldingFileSystem files_;
  std::unique_ptr<MountedSession> mounted_;
  std::string file_;  ///< the path of HoldingFileSystem::kHeld
};

}  // namespace nfsrdma::testing
