// One mounted export: the assembly of the client's parts for one shard.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "client/compound/compound_pool.h"
#include "client/proto/object.h"
#include "client/state/state_report.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

class CompoundPool;
class Delegations;
struct Files;
class LockWaiters;
class NameService;
class OpenFiles;
class Session;
class SessionSetup;
class Trace;
struct RequestContext;

/// The export and how to mount it. Durations bound the whole step, whatever the server does.
struct MountConfig {
  std::string server;       ///< as the user wrote it, for messages
  std::string export_path;  ///< "/" or "/export/dir"
  /// co_ownerid (RFC 8881 section 2.4): of no other mount that lives, stable over reconnects; that
  /// of an instance before has the server drop its state. Empty: make_client_owner().
  std::string identity;
  std::string machine_name;       ///< for AUTH_SYS; empty: the host name
  std::uint32_t rsize = 1 << 20;  ///< bytes of one READ at most, before negotiation
  std::uint32_t wsize = 1 << 20;  ///< bytes of one WRITE at most, before negotiation
  std::uint32_t max_slots = 64;   ///< requests in progress at once, before negotiation
  bool delegations = true;        ///< asked for with every OPEN that can use one
  /// Maps owners that are names; outlives the mount. Null: names are not mapped.
  NameService* names = nullptr;
  Credential caller;  ///< whose credential the mount's own operations carry
  /// An answer that has not come for so long is reported in the log.
  Duration time_out = std::chrono::seconds(180);
  Duration start_timeout = std::chrono::seconds(30);
  Duration stop_timeout = std::chrono::milliseconds(1500);
};

/// Owned by the daemon; everything in it belongs to the reactor's thread. The functions of
/// client/requests and client/files take a started Mount. Destroy it after stop() has finished.
class Mount {
 public:
  /// `message_pool` has the registered memory of encoded calls: message_slots(max_slots) slots of
  /// at least kMessageSlotBytes. All references outlive the Mount.
  Mount(Reactor& reactor, rpc::ChannelFactory& channels, MountConfig config,
        BufferPool& message_pool);
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  ~Mount();

  static constexpr std::size_t kMessageSlotBytes = 8192;
  static constexpr std::size_t kCompoundsPerSlot = 2;
  /// Texts of symbolic links at once; others wait.
  static constexpr std::size_t kTexts = 10;
  /// Slots that the message pool must have: two requests for each slot of the session (one may be
  /// filled while the other is answered), the reserved ones, and texts of symbolic links.
  static constexpr std::size_t message_slots(std::uint32_t max_slots) {
    return kCompoundsPerSlot * std::size_t{max_slots} + CompoundPool::kReserved + kTexts;
  }

  /// Connects, makes client id and session, finds the export. Ends within start_timeout. The
  /// error's step names what failed ("EXCHANGE_ID", "LOOKUP export"), its detail the remedy.
  Task<Result<void>> start();
  /// Shutting down: reconnects immediately, then every second; no request is kept for another.
  void hurry();
  /// Closes what is open, destroys session and client id, disconnects. Gives up when the server has
  /// answered nothing for `patience`, and after kMostPatiences of them in any case. An error names
  /// the step that the server did not confirm; the connection has ended nevertheless.
  Task<Result<void>> stop(Duration patience);
  /// With the patience that was configured.
  Task<Result<void>> stop() { return stop(config_.stop_timeout); }
  static constexpr int kMostPatiences = 5;

  const FileHandle& root() const { return root_.handle; }
  const Attributes& root_attributes() const { return root_.attributes; }
  std::uint32_t rsize() const;  ///< bytes; negotiated
  std::uint32_t wsize() const;  ///< bytes; negotiated
  Duration lease_time() const;
  /// When the request that has waited longest for an answer began to wait; now, when none waits.
  TimePoint waiting_since();

  const MountConfig& config() const { return config_; }
  Reactor& reactor() { return reactor_; }
  Session& session();
  OpenFiles& opens();
  Delegations& delegations();
  LockWaiters& lock_waiters();
  /// The requests in flight with their reasons to wait, and the times of the last ones.
  Trace& trace();
  /// Session::watch_callers.
  void watch_callers(std::function<bool(Origin)> gone);
  /// For the functions of client/files and client/requests.
  operator Files&();
  operator RequestContext&();

  nfs4::clientid4 clientid() const;
  /// Writes the state held at the server, in lines for people.
  void report_state(const StateLine& line) const;
  /// Ends the connection and makes it anew, at once. Requests in flight are sent again.
  void reconnect();

  void visit_counters(CounterVisitor& visitor) const;

 private:
  struct Parts;

  Task<Result<void>> establish();
  Task<Result<void>> find_export();
  Task<Result<Found>> find_root();
  Task<Result<Found>> find_below(FileHandle dir, std::string name);
  Task<Result<void>> fetch_limits();
  void take_lease_time(const Attributes& attributes);
  /// Asks for the lease time anew: a server may have another one after a restart or failover.
  Task<void> learn_lease();
  Task<Result<void>> say_goodbye();
  /// Repeats what the server puts off.
  Task<Result<void>> destroy(Task<Result<void>> (SessionSetup::*ask)(rpc::Channel&));
  std::uint64_t replies_so_far() const;
  Task<void> cut_off();

  Reactor& reactor_;
  BufferPool& message_pool_;
  MountConfig config_;
  std::unique_ptr<Parts> parts_;
  Found root_;
  const char* step_ = "connect";  // of start(), for messages
};

}  // namespace nfsrdma::client
