// A mount of a real responder in the same program: iWARP or plain TCP over loopback, the responder
// on a thread of its own, the client on the test's.
#pragma once

#include <memory>
#include <string>

#include "client/mount.h"
#include "tests/client/run_task.h"
#include "tests/responder/testing.h"
#include "transport/base/buffer.h"
#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/channel_factory.h"
#include "transport/tcp/channel_factory.h"

namespace nfsrdma::client::test {

enum class Over { rdma, tcp };

/// Everything below Mount, in the order that destruction asks for.
class Mounted {
 public:
  explicit Mounted(responder::ServerOptions server = {}, MountConfig config = {},
                   Over over = Over::rdma, const rdma::Options& options = {});
  ~Mounted();

  Result<void> start() { return run(mount().start()); }
  Result<void> stop() { return run(mount().stop()); }
  template <class T>
  T run(Task<T> task) {
    return run_task(*reactor_, std::move(task));
  }

  Mount& mount() { return *mount_; }
  responder::TestResponder& server() { return server_; }
  Reactor& reactor() { return *reactor_; }
  BufferPool& data() { return *data_; }
  /// The credential of the user that runs the test.
  Credential caller() const;
  std::uint64_t counter(const std::string& name) const;
  /// A path in the served directory.
  std::string path(const std::string& name) const { return server_.directory() + "/" + name; }

 private:
  void make_channels(Over over, const rdma::Options& options);

  responder::TestResponder server_;
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<BufferPool> messages_;
  std::unique_ptr<BufferPool> data_;
  std::unique_ptr<BufferPool> reply_chunks_;
  std::unique_ptr<rpc::ChannelFactory> channels_;
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<Mount> mount_;
};

}  // namespace nfsrdma::client::test
