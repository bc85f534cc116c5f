// The NFSv4.1 server (RFC 8881) of the responder: serves a directory of this machine as `/`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/fault_hooks.h"
#include "tests/responder/service.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

struct CompoundOutcome;
struct ServerState;

/// One thread: constructed, called and destroyed on the reactor's. The reactor must outlive it.
/// Calls whose replies are held back by a fault keep their ServerCall until they are answered, also
/// when the connection has gone; destroying the service drops them.
class NfsService final : public Service {
 public:
  /// Opens the directory; an Error of Layer::system when that fails. The process has no umask from
  /// then on: modes are the clients' to choose.
  static Result<std::unique_ptr<NfsService>> create(Reactor& reactor, ServiceConfig config);
  ~NfsService() override;

  void handle(ServerCall& call) override;
  void on_connection_closed(Connection& connection) override;

  /// A server reboot: client ids, sessions and stateids are forgotten, verifiers change, a grace
  /// period begins, of the configured length unless another is given. File handles stay good.
  void restart() { restart(grace_seconds()); }
  void restart(std::uint32_t grace_seconds);

  /// Every session is gone; clients and their state stay.
  void destroy_sessions();

  void inject(const OperationFault& fault);
  void clear_faults();
  /// From now on WRITE answers UNSTABLE4 whatever it is asked for, or what it should again.
  void set_never_stable(bool never);
  /// From now on a WRITE takes no more bytes than this.
  void set_most_written(std::size_t bytes);
  /// From now on a READ brings no more bytes than this, wherever the file ends.
  void set_most_read(std::size_t bytes);
  /// From now on OPEN says that a removed file stays as long as it is open
  /// (OPEN4_RESULT_PRESERVE_UNLINKED), or not.
  void set_keeps_unlinked(bool keeps);
  /// Operations that a fault was applied to.
  std::uint64_t faults_applied() const;

  /// Offers sessions that many slots from their next SEQUENCE on; with `recall` their clients are
  /// told at once (CB_RECALL_SLOT).
  void set_target_slots(std::uint32_t slots, bool recall);

  /// Sends so many callbacks at once to each session: one of tests/hostile/hostile_callbacks.h with
  /// hyphens for blanks, cut to so many bytes. Returns how many went out; nothing: no such name.
  std::optional<std::size_t> send_callbacks(std::string_view name, std::uint32_t count,
                                            std::size_t cut);
  /// The names that it takes.
  static std::vector<std::string> callback_names();

  /// The grace period is over, even if clients have still to reclaim.
  void end_grace();
  /// Every lease is over: clients, sessions and all state are gone. Returns how many clients that
  /// were.
  std::size_t expire_clients();

  /// Recalls all delegations (CB_RECALL); returns how many there are.
  std::size_t recall_delegations();
  /// Asks every client to keep at most so many (CB_RECALL_ANY).
  void recall_any_delegations(std::uint32_t keep);

  /// Takes away all byte-range locks, as an administrator does; returns how many lock stateids were
  /// revoked.
  std::size_t revoke_locks();

  void visit_counters(CounterVisitor& visitor) const;

 private:
  class HeldReply;

  explicit NfsService(Reactor& reactor);

  void release_slot(const CompoundOutcome& outcome);
  void begin_instance(bool first, std::uint32_t grace_seconds);
  std::uint32_t grace_seconds() const;
  void check_leases();

  std::unique_ptr<ServerState> state_;
  Timer lease_timer_;
  std::vector<std::unique_ptr<HeldReply>> held_;
  Counter compounds_;
  Counter expired_clients_;
  Counter restarts_;
  Counter unstable_writes_lost_;
};

}  // namespace nfsrdma::responder
