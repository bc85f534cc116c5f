// Finds out whether a server speaks RPC-over-RDMA version 2 (version-two-00 section 5): the first
// message of a connection is a NULL call of version 2, small enough for any server, and nothing
// else is sent until its fate is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/rdma/header.h"
#include "transport/rdma/options.h"
#include "transport/rdma/pools.h"
#include "transport/rdma/requester.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rdma {

/// Knowledge of a server for as long as it is used; kept by the factory.
struct ServerVersion {
  std::optional<std::uint32_t> known;  ///< nothing: never asked
  bool try_again = false;              ///< the last connection failed, and that told `known`
};

/// How the question was answered.
struct ProbeOutcome {
  /// The version to go on with; 0: none on this connection.
  std::uint32_t version = 0;
  /// Why there is none.
  std::optional<Error> error;
};

class VersionProbe final : private rpc::CallObserver {
 public:
  using Done = std::function<void(const ProbeOutcome&)>;

  VersionProbe(Reactor& reactor, const Options& options, Pools& pools, ServerVersion& server,
               Done done);

  /// The version of a connection's first message: 2 unless version 1 was asked for or found.
  std::uint32_t first_version() const;

  /// Sends the question; `done` is called once, unless the connection is lost before. An error: it
  /// cannot be sent.
  Result<void> start(Requester& requester);
  bool running() const { return running_; }
  /// An RDMA_ERROR for the question has arrived; its Call ends next.
  void on_error(const Header& header);
  static constexpr std::uint32_t kXid = 0x76657273;
  /// The connection was lost. Remembers the conclusion about the server, and changes `reason` to a
  /// message for the administrator.
  void on_down(Error& reason);

 private:
  void on_call_done(rpc::Call& call) override;
  void on_silence();
  void assume_version_one();
  ProbeOutcome judge(const rpc::Call& call);
  ProbeOutcome judge_range(const RdmaError& error);
  Error version_error(const std::string& why) const;
  void finish(const ProbeOutcome& outcome);

  const Options& options_;
  Pools& pools_;
  ServerVersion& server_;
  const Done done_;
  Timer patience_;
  std::optional<rpc::Call> call_;
  std::optional<RdmaError> refusal_;
  bool running_ = false;
};

}  // namespace nfsrdma::rdma
