// The connection end of FakeServer.
#pragma once

#include <vector>

#include "tests/client/fake_server.h"
#include "tests/client/program_channel.h"

namespace nfsrdma::client::test {

class FakeChannel final : public ProgramChannel {
 public:
  FakeChannel(Reactor& reactor, FakeServer& server, rpc::ChannelObserver& observer, int number)
      : ProgramChannel(reactor, observer), server_(server), number_(number) {}
  ~FakeChannel() override;

  void submit(rpc::Call& call) override;
  void hurry() override { ++server_.hurries_; }
  std::size_t calls_in_flight() const override { return server_.sends_nothing ? 0 : open_calls(); }

  /// Answers what FakeServer held back.
  void release();
  void release_first();
  void deliver(rpc::BackwardCall& call) { observer_.on_backward_call(call); }

 private:
  struct Held {
    rpc::Call* call;
    Bytes reply;
  };

  void process(rpc::Call& call) override;
  void end_call(rpc::Call& call) override;

  FakeServer& server_;
  const int number_;
  std::vector<Held> held_;
};

}  // namespace nfsrdma::client::test
