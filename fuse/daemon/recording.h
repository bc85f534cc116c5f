// The recording of a mount: record=FILE.
#pragma once

#include <memory>

#include "client/names/journaled_names.h"
#include "fuse/channel/request_journal.h"
#include "fuse/daemon/seams.h"
#include "fuse/options/options.h"
#include "transport/journal/journaled_reactor.h"
#include "transport/journal/recorder.h"

namespace nfsrdma::fuse {

/// Stands between a mount and everything outside. Belongs to the shard.
class Recording final : public Seams {
 public:
  /// The reactor, which is that of the daemon, outlives it. An error says why the file cannot be
  /// written.
  static Result<std::unique_ptr<Recording>> create(Reactor& outside, const Options& options);

  RequestJournal& requests() { return requests_; }

  Reactor& inside() override { return reactor_; }
  bool is_rerun() const override { return false; }
  std::unique_ptr<rpc::ChannelFactory> between(
      std::unique_ptr<rpc::ChannelFactory> channels) override;
  client::NameService& between(client::NameService& names) override;
  void enter(std::string_view word, journal::Body body, std::function<void()> go) override;
  void enter_now(std::string_view word, const std::function<void()>& go) override;
  void finished() override { recorder_->finish(); }

 private:
  Recording(Reactor& outside, std::unique_ptr<journal::Recorder> recorder);

  std::unique_ptr<journal::Recorder> recorder_;
  journal::JournaledReactor reactor_;
  RequestJournal requests_;
  std::unique_ptr<client::JournaledNames> names_;
};

/// The first entry of a recording: version of the program, source, mount point
/// and options in their order.
journal::Body recording_head(const Options& options);

}  // namespace nfsrdma::fuse
