// A fake rpc::Channel with the responder's real NFSv4.1 service behind it, in virtual time: a
// server with files, sessions, opens, leases, replay caches and grace periods, whose connections a
// test can break at any point.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/client/fake_server.h"
#include "tests/responder/nfs/nfs_service.h"
#include "tests/responder/reorder.h"

namespace nfsrdma::responder::test {
class FakeConnection;
}

namespace nfsrdma::client::test {

class ServedCall;
class ServedChannel;

/// Serves a temporary directory. Belongs to its reactor; outlives the Mount.
class ServedDirectory final : public rpc::ChannelFactory {
 public:
  static constexpr std::uint32_t kLeaseSeconds = 90;

  explicit ServedDirectory(Reactor& reactor, std::uint32_t grace_seconds = 0,
                           responder::DelegationKind delegations = {},
                           std::uint32_t lease_seconds = kLeaseSeconds,
                           bool mandatory_locks = false);
  ~ServedDirectory();

  /// Decides what becomes of each call; default: Fate::answer.
  std::function<Fate(const Arrival&)> fate;
  /// Called when a call has been executed, before its fate is fulfilled.
  std::function<void(const Arrival&)> after;
  /// The next `times` of an operation fail with this status instead of being executed.
  void fail(nfs4::nfs_opnum4 opnum, nfs4::nfsstat4 status, int times = 1);
  /// How many of those failures are still to come.
  int failures_left(nfs4::nfs_opnum4 opnum) const;
  /// Callbacks get no answer as long as this is set; those that wait are delivered by the next.
  bool hold_callbacks = false;
  /// Connecting fails as long as this is set.
  bool unreachable = false;
  /// Attempts to connect that are made as long as this is set never get an answer.
  bool black_hole = false;
  /// Calls are executed, and answered, in the order that this one says; nothing: as they come.
  std::optional<responder::Reorder> reorder;

  /// Every channel breaks; what was held back is never answered.
  void disconnect();
  /// Sends the answers that were held back so far, as long as their connection stands.
  void release_held();
  /// Forgets clients and state, and breaks all connections.
  void reboot(std::uint32_t grace_seconds);
  /// The service loses sight of the back channel, nothing else.
  void lose_callback_path();
  responder::NfsService& service() { return *service_; }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void write_file(const std::string& name, const std::string& text) const;
  std::string read_file(const std::string& name) const;
  bool exists(const std::string& name) const;

  /// Callbacks that a client has answered.
  int callbacks() const { return callbacks_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  void forget_arrivals() { arrivals_ = {}; }
  /// How often this operation was executed with success; replays are not counted.
  int successes_of(nfs4::nfs_opnum4 opnum) const;

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override;
  std::string_view description() const override { return "served directory"; }

 private:
  friend class ServedCall;
  friend class ServedChannel;
  std::optional<std::uint32_t> forced_status(std::uint32_t opnum);
  void forget(ServedChannel& channel);
  /// Runs `work` when `reorder` lets it: at once, or from the reactor.
  void in_its_turn(std::function<void()> work);
  void count_callback() { ++callbacks_; }

  Reactor& reactor_;
  std::filesystem::path directory_;
  std::unique_ptr<responder::NfsService> service_;
  std::vector<std::unique_ptr<responder::test::FakeConnection>> peers_;
  std::vector<Arrival> arrivals_;
  std::map<nfs4::nfs_opnum4, std::pair<nfs4::nfsstat4, int>> failures_;
  std::map<nfs4::nfs_opnum4, int> successes_;
  std::vector<ServedChannel*> channels_;
  std::vector<std::function<void()>> held_;
  std::list<std::unique_ptr<Timer>> turns_;  ///< of what is held back
  int connections_ = 0;
  int callbacks_ = 0;
};

}  // namespace nfsrdma::client::test
