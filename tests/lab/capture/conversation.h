// RPC on one connection of a capture: which message is a call or a reply to which, what memory is
// offered for how long, what was granted and announced. Judges nothing: its observers are told
// before the state changes, and can compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "tests/lab/capture/rpc_call.h"
#include "tests/lab/capture/whole_message.h"
#include "tests/lab/capture/wire.h"
#include "transport/rdma/header.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::lab {

enum class Direction : std::uint8_t { none, call, reply };

/// A message of RPC-over-RDMA.
struct MessageSeen {
  Source source;
  std::size_t size = 0;
  const rdma::Header* header = nullptr;  ///< as far as `fault` lets it be
  rdma::HeaderFault fault = rdma::HeaderFault::none;
  std::string fault_text;
  std::optional<std::uint32_t> invalidated;
  std::span<const std::byte> payload;  ///< behind the header
  Direction direction = Direction::none;
  std::optional<std::uint32_t> rpc_xid;  ///< the first word of the payload
  const RpcCall* call = nullptr;         ///< a reply's, while it is open
  bool answered = false;                 ///< a reply's call has been answered already
  bool xid_open = false;                 ///< a call's XID is that of one that is open
};

/// RDMA Write, RDMA Read Request or Read Response, by one side to memory of the other.
struct TransferSeen {
  enum class Kind : std::uint8_t { write, read_request, read_response };
  Source source;
  Kind kind = Kind::write;
  Place place;  ///< of what is written or read; of a Read Response without request: its sink
  std::uint64_t length = 0;
  const Offer* offer = nullptr;            ///< that has the handle and covers the range
  const Offer* handle = nullptr;           ///< that has the handle
  std::optional<std::uint32_t> ended_xid;  ///< the handle belonged to a call that was answered
  bool asked_for = true;                   ///< Read Responses: a request is open for it
};

/// A whole RPC message.
struct RpcSeen {
  Source source;
  Direction direction = Direction::call;
  std::uint32_t xid = 0;
  const WholeMessage* message = nullptr;
  const RpcCall* call = nullptr;  ///< a call's own; a reply's, or null when none is open
  bool answered = false;
};

class Conversation;

/// Told of everything before the conversation takes it in.
class ConversationObserver {
 public:
  virtual ~ConversationObserver() = default;
  virtual void on_startup(const Source&, const iwarp::StartupFrame&) {}
  virtual void on_segment(const SegmentSeen&) {}
  virtual void on_message(const MessageSeen&) {}
  virtual void on_transfer(const TransferSeen&) {}
  virtual void on_rpc(const RpcSeen&) {}
  virtual void on_terminate(const Source&, const std::string&) {}
  virtual void on_nonsense(const Source&, const char*) {}
  virtual void on_closed(Moment) {}
};

/// What one side says, in its messages and before them.
struct SideState {
  std::optional<rdma::PrivateData> private_data;
  std::size_t receive_size = rdma::kDefaultThreshold;  ///< with the properties of version 2
  std::uint32_t requested = 0;                         ///< credits, in its last call; 0: none yet
  std::uint32_t granted = 1;     ///< credits for the other side's calls; the first is free
  std::uint32_t open = 0;        ///< its calls that have no answer
  std::uint32_t open_reads = 0;  ///< RDMA Reads that it waits for
  std::optional<iwarp::StartupFrame> startup;
  bool wants_invalidation = false;  ///< by the property of version 2
  bool has_sent = false;            ///< an FPDU
};

class Conversation final : public WireObserver {
 public:
  /// At a time and connection; the oldest is forgotten then.
  static constexpr std::size_t kMostOpen = 1024;
  static constexpr std::size_t kMostRemembered = 4096;
  static constexpr std::size_t kMostReads = 1024;

  /// `budget` outlives it.
  Conversation(const ConnectionInfo& info, Budget& budget) : info_(info), budget_(budget) {}
  /// To be called before anything else.
  void observe(std::unique_ptr<ConversationObserver> observer) { observer_ = std::move(observer); }

  const ConnectionInfo& info() const { return info_; }
  const SideState& side(Side side) const { return sides_[index_of(side)]; }
  rdma::Thresholds thresholds() const;
  /// Highest of RPC-over-RDMA that both have used; 0: none.
  std::uint32_t version() const { return version_; }
  /// The capture has not all of it: what follows from earlier messages is not known.
  bool lossy() const { return lossy_; }

  void on_startup(const Source& source, const iwarp::StartupFrame& frame) override;
  void on_private_data(const Source& source, std::span<const std::byte> data) override;
  void on_segment(const SegmentSeen& segment) override;
  void on_send(const Source& source, std::span<const std::byte> message,
               std::optional<std::uint32_t> invalidated) override;
  void on_write(const Source& source, Place to, std::span<const std::byte> data) override;
  void on_read_request(const Source& source, const iwarp::ReadRequest& request) override;
  void on_read_response(const Source& source, Place to, std::span<const std::byte> data) override;
  void on_terminate(const Source& source, const std::string& why) override;
  void on_record(const Source& source, std::span<const std::byte> message) override;
  void on_gap(const Source&) override { lossy_ = true; }
  void on_nonsense(const Source& source, const char* what) override;
  void on_closed(Moment at) override;

 private:
  using CallKey = std::pair<Side, std::uint32_t>;  // caller, XID
  struct OpenRead {
    Side reader = Side::server;
    iwarp::ReadRequest request;
    std::uint64_t received = 0;
  };

  RpcCall* find(Side caller, std::uint32_t xid) const;
  std::pair<RpcCall*, Offer*> find_offer(Side owner, Place place, std::uint64_t length);
  /// Returns the open call that a reply answers; null: it answers none.
  RpcCall* classify(MessageSeen& seen) const;
  void take_message(const MessageSeen& seen);
  void take_call(const MessageSeen& seen);
  void take_reply(const MessageSeen& seen);
  void take_properties(const MessageSeen& seen);
  void index_offers(RpcCall& call, bool offered);
  RpcCall& open_call(Side caller, std::uint32_t xid);
  void end_call(Side caller, std::uint32_t xid);
  void tell_call(RpcCall& call, const Source& source);
  void tell_if_read(RpcCall& call, const Source& source);
  void end_read(std::deque<OpenRead>::iterator read);
  TransferSeen look_up(const Source& source, TransferSeen::Kind kind, Place place,
                       std::uint64_t length);

  const ConnectionInfo info_;
  Budget& budget_;
  std::unique_ptr<ConversationObserver> observer_;
  SideState sides_[2];
  std::uint32_t version_ = 0;
  bool lossy_ = false;
  std::map<CallKey, std::unique_ptr<RpcCall>> calls_;
  std::deque<CallKey> order_;
  std::unordered_multimap<std::uint64_t, RpcCall*> offered_;  // by owner and handle
  std::deque<OpenRead> reads_;
  std::deque<CallKey> answered_;
  std::unordered_map<std::uint64_t, std::uint32_t> ended_handles_;  // with the owner, to the XID
  std::deque<std::uint64_t> ended_order_;
};

}  // namespace nfsrdma::lab
