// The faults to make, and when: a list of rules in text form, for the command line, the control
// socket and tests. Deterministic: the same calls in the same order meet the same faults.
//
//   NAME[=VALUE][:op=OPERATION][:every=N][:after=N][:times=N]
//
// man/nfsrdma-responder.8, FAULT SCRIPTS, explains the names; fault_kinds() lists them. A VALUE may
// have colons, but no part of it behind one has a "=".
//
// Rules are of four levels, and count what they are asked about: calls (when one has arrived),
// results (when one is about to be answered), what is posted at the fabric (tests/faults), and
// those that stand for as long as they are there. op= takes the operation's name (READ) or NULL,
// and a call matches when its COMPOUND has that operation, results when they have it, and a post
// when it is made for such a call. every=N: each Nth match. after=N: not the first N. times=N: at
// most N times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/fabric_fault.h"
#include "tests/responder/service.h"
#include "tests/responder/transport/operations.h"
#include "tests/responder/transport/result_faults.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/rdma/header.h"
#include "transport/rpc/message.h"

namespace nfsrdma::responder {

/// Ways to spoil a reply on the wire. The name in a script is the same with hyphens.
enum class Malformed : std::uint8_t {
  none,
  truncated,          ///< ends within the transport header
  wrong_xid,          ///< header and message name an XID of no call
  wrong_rpc_xid,      ///< the message's XID differs from the header's
  wrong_version,      ///< rdma_vers 9
  wrong_proc,         ///< rdma_proc 9
  bad_chunks,         ///< a presence word that is neither 0 nor 1
  read_list,          ///< a reply with a Read list (V1-4.3.1-3)
  missing_chunk,      ///< Write list shorter than the call's
  missing_segment,    ///< a Write or Reply chunk with a segment less than the call's
  changed_handle,     ///< a segment's handle differs from the call's
  long_length,        ///< a returned length above the memory provided
  short_length,       ///< returned lengths that add up to less than the item
  short_reply_chunk,  ///< the Reply chunk's lengths end before the message does
  inline_result,      ///< result inline in spite of a Write chunk (V1-6.1-7)
  write_pad,          ///< the item's XDR pad in the Write chunk (V1-3.4.6-9)
  oversize,           ///< longer than the client's receive buffer
  rpc,                ///< an RPC header with an undefined reply_stat
  results,            ///< results cut off in the middle
};

/// The faults of one call, decided once, when the call has arrived.
struct CallFaults {
  Duration delay{0};
  Duration delay_reply{0};
  bool drop_reply = false;
  bool duplicate_reply = false;
  bool disconnect_before = false;
  bool disconnect_after = false;
  bool zero_grant = false;
  bool auth_error = false;
  std::uint32_t overtaken = 0;         ///< replies that go out before this one
  std::optional<std::uint32_t> grant;  ///< credits of the reply, whatever there are
  std::optional<rpc::AcceptStat> rpc_error;
  std::optional<rdma::rpc_rdma_errcode> rdma_error;
  Malformed malformed = Malformed::none;
  std::size_t fragment_bytes = 0;  ///< 0: one fragment
  /// The operation nfs_status is meant for.
  std::uint32_t nfs_operation = 0;
  std::optional<std::uint32_t> nfs_status;
  ServiceFaults service;
};

/// Stands for the NULL procedure where an operation number is expected.
inline constexpr std::uint32_t kNullProcedure = 0;

/// One line of a script.
struct FaultRule {
  enum class Level : std::uint8_t { call, results, fabric, standing };

  std::uint32_t id = 0;
  std::string name;   ///< "delay"
  std::string value;  ///< "250"
  std::string text;   ///< the whole line
  Level level = Level::call;
  std::optional<std::uint32_t> operation;
  std::uint64_t every = 1;
  std::uint64_t after = 0;
  std::optional<std::uint64_t> times;
  double seconds = 0;
  CallFaults effect;                  ///< added to a call that the rule fires on
  std::vector<std::uint32_t> grants;  ///< of credits=, in turn
  ResultFault result;
  faults::FabricFault fabric;
  std::uint64_t matched = 0;
  std::uint64_t fired = 0;
};

class FaultScript final : public faults::FabricScript {
 public:
  /// Adds a rule; returns its id. The error names the word that is wrong.
  Result<std::uint32_t> add(std::string_view spec);
  bool remove(std::uint32_t id);
  void clear() { rules_.clear(); }
  bool empty() const { return rules_.empty(); }
  const std::vector<FaultRule>& rules() const { return rules_; }

  /// Decides the faults of a call with these operations. Counts.
  CallFaults decide(const OperationList& operations);
  /// Whether spoil() can do anything.
  bool has_results() const;
  /// Changes the results of a call. Counts; false: nothing was changed.
  bool spoil(hostile::SpoiledReply& reply);

  /// Work posted from now on is for a call with these operations; null: for none.
  void set_posting_for(const OperationList* operations) { posting_for_ = operations; }
  std::vector<faults::FabricFault> decide(faults::At at) override;

  /// The latest credits= rule with one number.
  std::optional<std::uint32_t> credits() const;
  /// The latest cb-credits= rule.
  std::optional<std::uint32_t> backward_credits() const;
  /// The latest disconnect=every rule.
  std::optional<Duration> disconnect_period() const;
  /// How often the rule has fired; 0 for an unknown id.
  std::uint64_t fired(std::uint32_t id) const;
  /// "fault_ID_NAME": how often each rule has fired.
  void visit_counters(CounterVisitor& visitor) const;

 private:
  std::optional<std::uint32_t> latest_number(std::string_view name) const;

  std::vector<FaultRule> rules_;
  const OperationList* posting_for_ = nullptr;
  std::uint32_t last_id_ = 0;
};

/// Work posted during its life is for one call.
class PostingFor {
 public:
  PostingFor(FaultScript& script, const OperationList& operations) : script_(script) {
    script_.set_posting_for(&operations);
  }
  ~PostingFor() { script_.set_posting_for(nullptr); }
  PostingFor(const PostingFor&) = delete;
  PostingFor& operator=(const PostingFor&) = delete;

 private:
  FaultScript& script_;
};

}  // namespace nfsrdma::responder
