// The client, cache and file system of the daemon, in a world that is a recording.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fuse/daemon/nfs_backend.h"
#include "fuse/options/options.h"
#include "tests/lab/rerun/channel.h"
#include "tests/lab/rerun/kernel.h"
#include "tests/lab/rerun/names.h"
#include "tests/lab/rerun/reactor.h"
#include "tests/lab/rerun/recording.h"
#include "tests/lab/rerun/world.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::lab::rerun {

/// The options of the recorded mount, without the files of that machine.
Result<fuse::Options> options_of(const Head& head);

/// Never destroyed once it has begun: what is in flight has no end.
class Run final : public fuse::Seams {
 public:
  /// Outlived by `world`.
  Run(World& world, fuse::Options options);

  /// Begins to mount; waits for the first input.
  void begin() { spawn(start()); }
  /// Does the work of an input.
  void deliver(const Entry& entry);
  /// The receiver of requests has a buffer, if there is one.
  void take_slot() {
    if (kernel_) kernel_->take_slot();
  }
  RerunReactor& reactor() { return reactor_; }

  Reactor& inside() override { return reactor_; }
  bool is_rerun() const override { return true; }
  std::unique_ptr<rpc::ChannelFactory> between(std::unique_ptr<rpc::ChannelFactory>) override {
    return channels_.factory();
  }
  client::NameService& between(client::NameService&) override { return names_; }
  void enter(std::string_view word, journal::Body body, std::function<void()> go) override;
  void enter_now(std::string_view, const std::function<void()>& go) override { go(); }
  void finished() override { world_.give(journal::Kind::end, {}); }

 private:
  Task<void> start();
  Task<void> stop(Duration patience) { (void)co_await backend_.stop(patience); }
  void entered(const Entry& entry);
  void go(const std::string& word);

  World& world_;
  VirtualReactor outside_;
  RerunReactor reactor_;
  RerunChannels channels_;
  RerunNames names_;
  const fuse::Options options_;
  fuse::NfsBackend backend_;
  std::unique_ptr<RerunKernel> kernel_;
  std::map<std::string, std::function<void()>> waiting_;
  bool stopping_ = false;
};

}  // namespace nfsrdma::lab::rerun
