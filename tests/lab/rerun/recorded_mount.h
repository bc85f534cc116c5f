// A mount of a served directory that is recorded, in virtual time and in this process.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fuse/channel/dispatcher.h"
#include "fuse/channel/request_journal.h"
#include "fuse/daemon/nfs_backend.h"
#include "fuse/daemon/recording.h"
#include "tests/client/served_channel.h"
#include "tests/support/virtual_reactor.h"
#include "transport/journal/journaled_channel.h"

namespace nfsrdma::lab::rerun::test {

/// Records as fuse::Recording does, but for the server, which is in this process.
class ServedSeams final : public fuse::Seams {
 public:
  ServedSeams(Reactor& outside, rpc::ChannelFactory& server, journal::Recorder& recorder)
      : server_(server), recorder_(recorder), reactor_(outside, recorder) {}

  journal::JournaledReactor& inside() override { return reactor_; }
  bool is_rerun() const override { return true; }
  std::unique_ptr<rpc::ChannelFactory> between(std::unique_ptr<rpc::ChannelFactory>) override {
    return std::make_unique<journal::JournaledFactory>(std::make_unique<Borrowed>(server_),
                                                       reactor_);
  }
  client::NameService& between(client::NameService& names) override { return names; }
  void enter(std::string_view word, journal::Body body, std::function<void()> go) override {
    journal::Body named;
    named.string(word).opaque(body.bytes());
    reactor_.outside().post([this, named, go] {
      const journal::Input input(reactor_, journal::Kind::entered, named);
      go();
    });
  }
  void enter_now(std::string_view word, const std::function<void()>& go) override {
    journal::Body named;
    const journal::Input input(reactor_, journal::Kind::entered, named.string(word).opaque({}));
    go();
  }
  void finished() override { recorder_.finish(); }

 private:
  struct Borrowed final : rpc::ChannelFactory {
    explicit Borrowed(rpc::ChannelFactory& factory) : lender(factory) {}
    Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override {
      return lender.connect(observer);
    }
    std::string_view description() const override { return lender.description(); }
    rpc::ChannelFactory& lender;
  };

  rpc::ChannelFactory& server_;
  journal::Recorder& recorder_;
  journal::JournaledReactor reactor_;
};

/// Mounted when made; the kernel's requests are asked by opcode.
class RecordedMount {
 public:
  RecordedMount(VirtualReactor& outside, rpc::ChannelFactory& server, const fuse::Options& options,
                journal::Recorder& recorder)
      : outside_(outside), seams_(outside, server, recorder), backend_(outside, options, &seams_) {
    spawn(mount());
    outside_.advance(std::chrono::seconds(1));
    fuse_init_in init{};
    init.major = FUSE_KERNEL_VERSION;
    init.minor = FUSE_KERNEL_MINOR_VERSION;
    ask(FUSE_INIT, 0, &init, sizeof init);
  }
  ~RecordedMount() {
    spawn(stop());
    outside_.advance(std::chrono::seconds(20));
  }

  /// The body of the answer, of which the kernel sees the error.
  std::vector<std::byte> ask(std::uint32_t opcode, std::uint64_t node, const void* arguments,
                             std::size_t size, std::string_view behind = {}) {
    begin(opcode, node, arguments, size, behind);
    outside_.advance(std::chrono::seconds(1));
    // Threads that drop pages have times of their own: virtual time waits for them.
    while (seams_.inside().waits_for_thread()) {
      std::this_thread::yield();
      outside_.settle();
    }
    return kernel_.answers[unique_];
  }
  /// The same without waiting.
  void begin(std::uint32_t opcode, std::uint64_t node, const void* arguments, std::size_t size,
             std::string_view behind = {}) {
    std::vector<std::byte> message(sizeof(fuse_in_header) + size + behind.size());
    fuse_in_header header{};
    header.len = static_cast<std::uint32_t>(message.size());
    header.opcode = opcode;
    header.unique = ++unique_;
    header.nodeid = node;
    std::memcpy(message.data(), &header, sizeof header);
    if (size > 0) std::memcpy(message.data() + sizeof header, arguments, size);
    if (!behind.empty()) {
      std::memcpy(message.data() + sizeof header + size, behind.data(), behind.size());
    }
    dispatch(message);
  }

 private:
  struct Kernel final : fuse::KernelChannel {
    int send(std::span<const iovec> parts) override {
      if (std::this_thread::get_id() != shard) return 0;
      const fuse_out_header header = fuse::header_of(parts);
      auto& answer = answers[header.unique];
      for (const iovec& part : parts.subspan(1)) {
        const auto* bytes = static_cast<const std::byte*>(part.iov_base);
        answer.insert(answer.end(), bytes, bytes + part.iov_len);
      }
      return 0;
    }
    const std::thread::id shard = std::this_thread::get_id();
    std::map<std::uint64_t, std::vector<std::byte>> answers;
  };

  Task<void> mount() {
    auto started = co_await backend_.start();
    if (!started) co_return;
    requests_ = std::make_unique<fuse::RequestJournal>(seams_.inside());
    requests_->attach(kernel_);
    in_flight_ = std::make_unique<fuse::InFlight>(seams_.inside(), fuse::CallerPolicy{});
    backend_.on_mounted(*requests_);
    dispatcher_ = std::make_unique<fuse::Dispatcher>(
        seams_.inside(), *in_flight_,
        fuse::Serving{backend_.handlers(), backend_.served(), backend_.limits()});
  }
  Task<void> stop() { (void)co_await backend_.stop(std::chrono::seconds(1)); }

  void dispatch(std::span<const std::byte> bytes) {
    std::optional<journal::Input> input;
    if (!slot_) {
      requests_->begin_slot(input, journal::SlotStep::acquire);
      slot_ = backend_.slots().acquire();
    }
    std::ranges::copy(bytes, slot_.bytes().begin());
    input.reset();
    requests_->begin_request(input, bytes);
    fuse::Message message;
    std::memcpy(&message.header, bytes.data(), sizeof message.header);
    message.arguments = slot_.first(bytes.size()).subspan(sizeof message.header);
    message.slot = &slot_;
    dispatcher_->dispatch(*requests_, message);
  }

  VirtualReactor& outside_;
  ServedSeams seams_;
  Kernel kernel_;
  std::unique_ptr<fuse::RequestJournal> requests_;
  fuse::NfsBackend backend_;
  std::unique_ptr<fuse::InFlight> in_flight_;
  std::unique_ptr<fuse::Dispatcher> dispatcher_;
  Buffer slot_;
  std::uint64_t unique_ = 0;
};

}  // namespace nfsrdma::lab::rerun::test
