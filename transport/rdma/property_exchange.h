// One end's part in the exchange of transport properties (xcharext-03): its own announcements, the
// peer's, and open requests. The same in both roles, which differ in their policies.
//
// CONNPROP tells the own properties once the version is agreed. REQPROP asks the peer for a larger
// receive size, RESPROP answers such a request, when every smaller receive has been used up, and
// UPDPROP announces a change without a request. At most one message of ours is open at a time
// (requirement F-14): a one-way message until something later arrives from the peer, REQPROP until
// it is answered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "transport/rdma/header.h"
#include "transport/rdma/properties.h"

namespace nfsrdma::rdma {

/// The policy of one end; fixed for a connection.
struct PropertyPolicy {
  Properties own;                                        ///< as CONNPROP tells them
  std::uint32_t most_receive = kMinReceiveBufferSize;    ///< receive size it can be asked for
  std::uint32_t wanted_receive = kMinReceiveBufferSize;  ///< receive size it wants of the peer
  bool speaks_first = true;  ///< sends CONNPROP from start() on; else after the peer's
  /// Operations that are supported: others are answered RDMA_ERR_INVAL_OPTION and never sent.
  std::array<bool, kOptionTypes> supports = {false, true, true, true, true};
};

/// The connection, as the exchange needs it.
class PropertyHost {
 public:
  /// Whether one more message may go out that nothing but a later message acknowledges. True counts
  /// it as sent.
  virtual bool may_send_optional() = 0;
  /// An XID that no open transaction of this side has (XP-4.1-7).
  virtual std::uint32_t optional_xid() = 0;
  virtual void send_optional(std::uint32_t xid, const RdmaOptional& optional) = 0;
  /// Makes receives of this size from now on. True when no smaller one is posted; otherwise
  /// PropertyExchange::on_receives_raised follows.
  virtual bool raise_receives(std::uint32_t size) = 0;
  /// Values of either side have changed, and with them the inline thresholds.
  virtual void on_properties_changed() = 0;

 protected:
  ~PropertyHost() = default;
};

/// The immediate answer to an RDMA_OPTIONAL.
enum class OptionAnswer : std::uint8_t {
  none,
  inval_option,  ///< RDMA_ERR_INVAL_OPTION (V2-3.1-3)
  bad_header,    ///< an XDR error: RDMA_ERR_BAD_HEADER (requirement F-17)
};

class PropertyExchange {
 public:
  PropertyExchange(PropertyHost& host, const PropertyPolicy& policy);

  /// Version 2 is agreed: properties may be told.
  void start();
  bool started() const { return started_; }

  /// An RDMA_OPTIONAL of any opttype has arrived. `payload` bytes followed its header; none of the
  /// four operations has any (XP-4-1).
  OptionAnswer on_optional(std::uint32_t xid, const RdmaOptional& optional, std::size_t payload);
  /// An RDMA_ERROR has arrived. True when it answers a message of this exchange.
  bool on_error(std::uint32_t xid, rpc_rdma_errcode code);
  /// A message has arrived that the peer sent after it could have seen a one-way message of ours.
  void on_later_message();
  /// Sends the messages that are due and allowed.
  void pump();

  /// Asks the peer to change its receive size.
  void request_receive_size(std::uint32_t size);
  /// Changes the own receive size upwards, unasked: UPDPROP follows when older receives are used.
  void update_receive_size(std::uint32_t size);
  /// No receive smaller than what raise_receives() was given is posted any more.
  void on_receives_raised();

  const Properties& own() const { return advertised_; }
  const Properties& peer() const { return peer_; }
  /// Whether the peer has listed the property, and so knows it.
  bool peer_lists(std::uint32_t which) const;
  /// Largest message to the peer: its receive size, or the smaller one that it was asked for.
  std::uint32_t send_limit() const;
  /// The support of a peer that calls in the backward direction and has announced nothing: a call
  /// with chunks shows general support (XP-3.3-2).
  void infer_backward_support(bool call_has_chunks);

 private:
  struct Open {
    std::uint32_t xid = 0;
    std::uint32_t opttype = 0;
  };
  /// A REQPROP that waits for its RESPROP, or the RESPROP being made.
  struct Disposition {
    std::uint32_t xid = 0;
    std::size_t words = 0;  ///< of each subset
    std::array<std::uint32_t, kMaxSubsetWords> done;
    std::array<std::uint32_t, kMaxSubsetWords> rej;
    std::optional<std::uint32_t> other;  ///< a new receive size that is not the wanted one
    // A receive size that is being raised:
    bool waiting = false;
    std::uint32_t index = 0;
    std::uint32_t wanted = 0;
  };
  /// Of kMaxSubsetWords words each, and one value.
  static constexpr std::size_t kMaxOptInfoSent =
      3 * xdr::kUnit + 2 * kMaxSubsetWords * xdr::kUnit + kPropvalSize;

  bool supports(std::uint32_t opttype) const;
  void on_connprop(const OptInfo& info);
  void on_reqprop(std::uint32_t xid, const OptInfo& info);
  bool on_resprop(std::uint32_t xid, const OptInfo& info);
  void on_updprop(const OptInfo& info);

  void dispose_all(const PropvalSet& want);
  void dispose(std::uint32_t index, const propval& property);
  void dispose_receive_size(std::uint32_t index, std::uint32_t wanted);
  void raise(std::uint32_t size);
  void finish_raise();
  void send_resprop();

  void take_peer_value(const propval& property);
  void send_due();
  bool open(std::uint32_t opttype, const xdr::Encoder& optinfo);
  void send(std::uint32_t xid, std::uint32_t opttype, const xdr::Encoder& optinfo);
  xdr::Encoder optinfo() { return xdr::Encoder(memory_); }

  PropertyHost& host_;
  const PropertyPolicy policy_;
  bool started_ = false;
  Properties advertised_;  // this side's values that the peer knows
  Properties peer_;
  bool peer_advertised_ = false;
  std::array<std::uint32_t, 3> peer_listed_{};
  std::size_t peer_listed_count_ = 0;

  std::optional<Open> open_;
  std::array<std::uint32_t, kOptionTypes> sent_xids_{};
  std::array<bool, kOptionTypes> was_sent_{};
  std::array<bool, kOptionTypes> refused_{};  // by the peer: not sent again (V2-3.1-4)
  bool connprop_due_ = false;
  std::optional<std::uint32_t> update_due_;  // receive size to be told
  std::optional<std::uint32_t> request_due_;
  std::optional<std::uint32_t> requested_;  // by an open REQPROP of ours

  std::optional<std::uint32_t> raising_;  // receive size on its way
  Disposition disposition_;
  std::array<std::byte, kMaxOptInfoSent> memory_;
};

}  // namespace nfsrdma::rdma
