// Shared by all connections and calls of one responder.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/responder/reorder.h"
#include "tests/responder/service.h"
#include "tests/responder/transport/counters.h"
#include "tests/responder/transport/failed_calls.h"
#include "tests/responder/transport/fault_script.h"
#include "transport/base/buffer.h"
#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/header.h"
#include "transport/rdma/properties.h"

namespace nfsrdma::responder {

class RdmaCall;

/// A call that waits until the responder is resumed.
class HeldCall {
 public:
  virtual void resume() = 0;

 protected:
  ~HeldCall() = default;
};

/// The reaction to a message whose rdma_vers is not served.
enum class OtherVersions : std::uint8_t {
  answer,      ///< RDMA_ERROR with ERR_VERS and the range, as RFC 8166 wants it
  disconnect,  ///< as responders do that know no better
  ignore,
};

/// How the responder behaves; fixed at its creation.
struct ResponderConfig {
  std::size_t inline_size = 4096;  ///< largest message each way, in bytes (1024 to 262144)
  /// Calls may be as large as this where it is more, so that small WRITEs need no RDMA Read.
  std::size_t call_size = 0;
  /// Version 2: the receive size that a client can ask for (up to 65536). Less than inline_size: no
  /// larger one than there is.
  std::size_t most_inline_size = 0;
  rdma::VersionRange versions;  ///< of RPC-over-RDMA
  OtherVersions other_versions = OtherVersions::answer;
  /// Version 2: property operations that are supported.
  std::array<bool, rdma::kOptionTypes> options = {false, true, true, true, true};
  std::uint32_t credits = 64;          ///< most credits granted to a connection
  std::uint32_t backward_credits = 8;  ///< most callbacks open on a connection
  std::size_t max_payload = 1 << 20;   ///< bytes of one DDP-eligible argument or result
  /// Buffers of max_payload: for Read chunks, and for results until they are sent.
  std::size_t data_buffers = 256;
  std::size_t max_connections = 32;
  /// How long a client may take to answer RDMA Reads before its connection is ended.
  Duration read_patience = std::chrono::seconds(30);
  bool remote_invalidation = true;       ///< say and use the R bit of RFC 8797
  bool crc = true;                       ///< MPA CRC
  std::size_t max_segment = 0;           ///< iwarp: fabric::EndpointOptions::max_segment
  capture::Sink* capture = nullptr;      ///< records the wire; must outlive the responder
  bool wire_faults = false;              ///< rules with wire= can be met; not with devices
  std::optional<std::uint64_t> reorder;  ///< calls are executed and answered in any order: its seed
};

/// Of ResponderConfig::max_connections: pools have room for all, which they take when it is needed.
inline constexpr std::size_t kMaxConnections = 1024;
/// The highest credit limit a fault script can set, and what pools are sized for.
inline constexpr std::uint32_t kMaxCredits = 128;
/// Receives beyond the grant, so that a client that overruns it is served and counted
/// (requirement B4-4.3.1-1).
inline constexpr std::uint32_t kSpareReceives = 8;
/// Room for a transport header in front of a reply's message.
inline constexpr std::size_t kHeaderRoom = 4096;
/// Largest reply without its DDP-eligible results.
inline constexpr std::size_t kMaxReplyMessage = 256 * 1024;
/// A Long Call may be this much longer than the payload it carries.
inline constexpr std::size_t kLongCallRoom = 64 * 1024;
/// Calls whose Read chunks are being pulled, so that clients which do not answer the RDMA Reads
/// leave buffers to others. Of one connection; of all it is three quarters of the data buffers.
inline constexpr std::size_t kPullsOfConnection = 16;

/// Bytes of a receive when a connection begins.
std::size_t receive_size(const ResponderConfig& config);
/// Bytes of a receive at most.
std::size_t largest_receive(const ResponderConfig& config);

/// The memory of a responder. Made before the fabric and destroyed after it, because providers may
/// register it.
struct ResponderPools {
  static Result<ResponderPools> create(const ResponderConfig& config);

  std::unique_ptr<BufferPool> messages;  ///< slots of largest_receive()
  /// One for each call that all connections may have open: header, results, and zeros for pads.
  std::unique_ptr<BufferPool> replies;
  std::unique_ptr<BufferPool> data;  ///< Read chunks, and results until they are sent
};

/// Owned by the Responder; everything that refers to it is gone before it. Reactor's thread only.
class Core {
 public:
  Core(Reactor& reactor, Service& service, const ResponderConfig& config, ResponderPools& pools);
  ~Core();

  Reactor& reactor;
  Service& service;
  const ResponderConfig config;
  FaultScript faults;
  Counters counters;
  FailedCalls failed_calls;
  std::optional<Reorder> reorder;

  ResponderPools& pools;

  /// The most credits a connection gets now: config.credits or the script's.
  std::uint32_t credit_limit() const;

  /// A call object, or null when as many are in use as all connections may have.
  RdmaCall* acquire_call();
  void release_call(RdmaCall& call);
  std::size_t calls_in_use() const { return calls_.size() - free_calls_.size(); }

  /// Stops taking up calls: they queue until resume().
  void stop() { stopped_ = true; }
  void resume();
  bool stopped() const { return stopped_; }

  /// Queues a call until the responder is resumed, or until a data buffer is free.
  void hold_until_resumed(HeldCall& call) { held_.push_back(&call); }
  void hold_for_memory(RdmaCall& call) { waiting_.push_back(&call); }
  /// Whether a call of a connection that pulls `own` already may begin to pull.
  bool may_pull(std::size_t own) const {
    return own < kPullsOfConnection && pulls_ < config.data_buffers / 4 * 3;
  }
  void pull_began() { ++pulls_; }
  void pull_ended() { --pulls_; }
  /// Lets calls go on that waited for memory, as far as there is some.
  void continue_waiting();
  /// Queues a call that is to be answered until so many other replies have gone out.
  void hold_until_overtaken(HeldCall& call, std::uint32_t replies) {
    overtaken_.push_back({&call, replies});
  }
  /// A reply goes out. Those that waited for it follow in the next turn of the reactor.
  void reply_goes_out();
  /// Takes a call out of the queues.
  void forget(RdmaCall& call);
  void forget_held(HeldCall& call);

 private:
  void let_overtaken_go();

  std::vector<std::unique_ptr<RdmaCall>> calls_;
  std::vector<RdmaCall*> free_calls_;
  std::deque<HeldCall*> held_;
  std::deque<RdmaCall*> waiting_;
  struct Overtaken {
    HeldCall* call;
    std::uint32_t replies;  ///< still to go out before
  };
  std::vector<Overtaken> overtaken_;
  Deferred overtaken_turn_;
  std::size_t pulls_ = 0;
  bool stopped_ = false;
};

}  // namespace nfsrdma::responder
