#include "fuse/daemon/recording.h"

#include <chrono>
#include <utility>

#include "fuse/daemon/version.h"
#include "transport/capture/form.h"
#include "transport/journal/journaled_channel.h"

namespace nfsrdma::fuse {

using journal::Body;
using journal::Input;
using journal::Kind;

Body recording_head(const Options& options) {
  Body head;
  head.string(version_text()).string(options.source.text).string(options.mount_point);
  head.u32(static_cast<std::uint32_t>(options.items.size()));
  for (const std::string& item : options.items) head.string(item);
  return head;
}

Result<std::unique_ptr<Recording>> Recording::create(Reactor& outside, const Options& options) {
  const ProgramOptions& program = options.program;
  auto recorder =
      journal::Recorder::create(program.record_file, recording_head(options),
                                std::chrono::seconds(program.record_last), capture::kLastOwner);
  if (!recorder) return fail_from(recorder);
  return std::unique_ptr<Recording>(new Recording(outside, std::move(*recorder)));
}

Recording::Recording(Reactor& outside, std::unique_ptr<journal::Recorder> recorder)
    : recorder_(std::move(recorder)), reactor_(outside, *recorder_), requests_(reactor_) {}

std::unique_ptr<rpc::ChannelFactory> Recording::between(
    std::unique_ptr<rpc::ChannelFactory> channels) {
  return std::make_unique<journal::JournaledFactory>(std::move(channels), reactor_);
}

client::NameService& Recording::between(client::NameService& names) {
  names_ = std::make_unique<client::JournaledNames>(names, reactor_);
  return *names_;
}

void Recording::enter(std::string_view word, Body body, std::function<void()> go) {
  Body named;
  named.string(word).opaque(body.bytes());
  reactor_.outside().post([this, named = std::move(named), go = std::move(go)] {
    const Input input(reactor_, Kind::entered, named);
    go();
  });
}

void Recording::enter_now(std::string_view word, const std::function<void()>& go) {
  const Input input(reactor_, Kind::entered, Body().string(word).opaque({}));
  go();
}

}  // namespace nfsrdma::fuse
