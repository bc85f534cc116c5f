#include "transport/capture/switch.h"

#include <cerrno>
#include <utility>

namespace nfsrdma::capture {

/// What a connection holds, which may outlive the record.
class Switch::Relay final : public Flow {
 public:
  Relay(Switch& owner, std::unique_ptr<Flow> flow) : owner_(owner), flow_(std::move(flow)) {}
  ~Relay() override {
    const std::lock_guard lock(owner_.mutex_);
    owner_.relays_.erase(this);
    flow_.reset();
  }

  void sent(std::span<const iovec> pieces, std::size_t bytes) override {
    const std::lock_guard lock(owner_.mutex_);
    if (flow_) flow_->sent(pieces, bytes);
  }
  void received(std::span<const iovec> pieces, std::size_t bytes) override {
    const std::lock_guard lock(owner_.mutex_);
    if (flow_) flow_->received(pieces, bytes);
  }
  void comment(std::string text) override {
    const std::lock_guard lock(owner_.mutex_);
    if (flow_) flow_->comment(std::move(text));
  }
  /// The owner's lock is held.
  void end() { flow_.reset(); }

 private:
  Switch& owner_;
  std::unique_ptr<Flow> flow_;
};

Result<void> Switch::start(std::unique_ptr<Sink> sink) {
  const std::lock_guard lock(mutex_);
  if (sink_) return fail(Error::local(EBUSY, "capture", "one is going on"));
  sink_ = std::move(sink);
  return {};
}

void Switch::stop() {
  const std::lock_guard lock(mutex_);
  for (Relay* relay : relays_) relay->end();
  relays_.clear();
  sink_.reset();
}

bool Switch::on() const {
  const std::lock_guard lock(mutex_);
  return sink_ != nullptr;
}

std::unique_ptr<Flow> Switch::open_flow(const sockaddr& local, const sockaddr& peer, bool initiator,
                                        Carried carried) {
  const std::lock_guard lock(mutex_);
  if (!sink_) return nullptr;
  auto relay = std::make_unique<Relay>(*this, sink_->open_flow(local, peer, initiator, carried));
  relays_.insert(relay.get());
  return relay;
}

void Switch::flush() {
  const std::lock_guard lock(mutex_);
  if (sink_) sink_->flush();
}

}  // namespace nfsrdma::capture
