#include "tests/client/mounted.h"

#include "tests/support/counter_of.h"

#include <unistd.h>

namespace nfsrdma::client::test {
namespace {

constexpr std::size_t kMessages = 160;
constexpr std::size_t kDataBytes = 1 << 20;
constexpr std::size_t kDataSlots = 32;
constexpr std::size_t kReplyChunkBytes = 1 << 20;
constexpr std::size_t kReplyChunks = 16;

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return std::move(*result);
}

responder::ServerOptions serving(responder::ServerOptions options, Over over) {
  if (over == Over::tcp) options.tcp_port = 0;
  return options;
}

}  // namespace

Mounted::Mounted(responder::ServerOptions server, MountConfig config, Over over,
                 const rdma::Options& options)
    : server_(serving(std::move(server), over)),
      reactor_(make_epoll_reactor()),
      messages_(must(BufferPool::create(Mount::kMessageSlotBytes, kMessages))),
      data_(must(BufferPool::create(kDataBytes, kDataSlots))),
      reply_chunks_(must(BufferPool::create(kReplyChunkBytes, kReplyChunks))) {
  make_channels(over, options);
  if (config.export_path.empty()) config.export_path = "/";
  config.server = "test";
  config.caller = caller();
  mount_ = std::make_unique<Mount>(*reactor_, *channels_, std::move(config), *messages_);
}

void Mounted::make_channels(Over over, const rdma::Options& options) {
  if (over == Over::tcp) {
    channels_ =
        must(tcp::ChannelFactory::create(*reactor_, server_.tcp_address(), {}, *reply_chunks_));
    return;
  }
  fabric_ = fabric::make_iwarp_fabric(*reactor_);
  must(fabric_->register_pool(*messages_).map([] { return true; }));
  must(fabric_->register_pool(*data_).map([] { return true; }));
  channels_ = must(rdma::ChannelFactory::create(*reactor_, *fabric_, server_.address(), options,
                                                *reply_chunks_));
}

Mounted::~Mounted() {
  mount_.reset();
  while (reactor_->run_once(Duration::zero())) {
  }
}

Credential Mounted::caller() const {
  Credential caller;
  caller.uid = getuid();
  caller.gid = getgid();
  return caller;
}

std::uint64_t Mounted::counter(const std::string& name) const {
  return testing::counter_of(*mount_, name);
}

}  // namespace nfsrdma::client::test
