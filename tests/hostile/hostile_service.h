// The responder's NFSv4.1 service behind something that changes its answers.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "tests/hostile/spoiled_reply.h"
#include "tests/responder/service.h"

namespace nfsrdma::hostile {

inline constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
/// Stands for any operation.
inline constexpr auto kAny = nfs4::nfs_opnum4{0};

/// What a server does wrong.
struct Rule {
  nfs4::nfs_opnum4 opnum = kAny;  ///< COMPOUNDs with this operation
  std::uint64_t times = kForEver;
  std::uint64_t skip = 0;  ///< so many of them are left alone first
  /// The operation is not executed and fails with this; NFS4_OK: it is.
  nfs4::nfsstat4 status = nfs4::NFS4_OK;
  /// Changes the reply to what was executed; may be empty.
  std::function<void(SpoiledReply&)> spoil;
};

/// Belongs to the reactor's thread. The service outlives it.
class HostileService final : public responder::Service {
 public:
  explicit HostileService(responder::Service& honest) : honest_(honest) {}

  /// From now on. Rules are asked in their order.
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  /// Nothing is done wrong from now on.
  void lift() { rules_.clear(); }
  /// How often rules were applied.
  std::uint64_t struck() const { return struck_; }
  /// COMPOUNDs so far.
  std::uint64_t calls() const { return calls_; }

  /// Operations that were executed, or refused by a rule, since this was cleared.
  std::set<std::uint32_t> seen;
  /// Connections that have brought a COMPOUND and are not closed, the latest last.
  const std::vector<responder::Connection*>& connections() const { return connections_; }

  void handle(responder::ServerCall& call) override;
  void on_connection_closed(responder::Connection& connection) override;

 private:
  friend class HostileCall;
  nfs4::nfsstat4 forced(std::uint32_t opnum);
  bool spoils() const;
  /// Whether anything was changed.
  bool spoil(SpoiledReply& reply);
  bool fires(Rule& rule);

  responder::Service& honest_;
  std::vector<Rule> rules_;
  std::vector<responder::Connection*> connections_;
  std::uint64_t struck_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace nfsrdma::hostile
