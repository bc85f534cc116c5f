// A fake rpc::Channel with an NFSv4.1 server behind it, in the reactor's (virtual) time: clients,
// sessions and slots are the responder's, which checks what the client does with them, and a test
// sets handlers for the operations it is about. An operation without a handler succeeds with zeros.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/proto/attributes.h"
#include "tests/proto/operations.h"
#include "tests/responder/nfs/session/client_table.h"
#include "tests/responder/nfs/session/session.h"
#include "transport/base/reactor.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client::test {

class FakeChannel;

/// What a call looked like when it arrived.
struct Arrival {
  std::uint32_t xid = 0;
  int connection = 0;  ///< 1 for the first
  TimePoint at{0};
  rpc::Credential caller;
  std::vector<nfs4::nfs_opnum4> operations;
  std::optional<nfs4::SEQUENCE4args> sequence;
  std::vector<std::byte> bytes;  ///< as encoded, without payloads
  std::size_t max_reply = 0;
  bool result_sink = false;  ///< whether memory for a placed result was offered
  rpc::Urgency urgency = rpc::Urgency::ordinary;
  net::Pace pace = net::Pace::prompt;

  bool has(nfs4::nfs_opnum4 opnum) const;
};

/// What becomes of a call.
enum class Fate {
  answer,
  hold,               ///< executed; the answer waits for release()
  disconnect_before,  ///< the connection ends and the call is not executed
  disconnect_after,   ///< executed, then the connection ends before the reply
  refuse,             ///< not sent: the channel, which stays, cannot expose the call's memory
  too_large,          ///< executed, and the reply kills the connection: it fits no receive buffer
};

/// What a call asks for.
Arrival describe_call(const rpc::Call& call, int connection, TimePoint now);

class FakeServer final : public rpc::ChannelFactory {
 public:
  explicit FakeServer(Reactor& reactor);
  ~FakeServer();

  /// Handles an operation: `handler(args, result)` fills in the result.
  template <class Args, class Res>
  void on(std::function<void(const Args&, Res&)> handler) {
    handlers_[Args::opnum] = [handler](xdr::Decoder& in, xdr::Encoder& out) {
      Args args;
      Res result;
      nfs4::decode(in, args);
      handler(args, result);
      nfs4::encode_operation(out, result);
      return nfs4::status_of(result);
    };
  }
  /// The next `times` of an operation fail with this status; on top of a handler.
  void fail(nfs4::nfs_opnum4 opnum, nfs4::nfsstat4 status, int times = 1);
  /// Decides what becomes of each call; default: Fate::answer.
  std::function<Fate(const Arrival&)> fate;
  /// Changes a CREATE_SESSION result before it is sent.
  std::function<void(const nfs4::CREATE_SESSION4args&, nfs4::CREATE_SESSION4resok&)> adjust_session;
  /// sr_target_highest_slotid and sr_status_flags of every SEQUENCE from now on.
  std::optional<nfs4::slotid4> target_highest_slotid;
  std::uint32_t status_flags = 0;
  /// Told when control goes to the client (true) and comes back (false) at the end of a call.
  std::function<void(bool client)> count_client;
  /// Every client id has the same number, as with servers that make it of their start time.
  bool repeat_clientids = false;
  /// So many CREATE_SESSIONs fail, each an answer that is kept for its number.
  int sessions_to_refuse = 0;
  /// Connecting fails as long as this is set.
  bool unreachable = false;
  /// Its channels keep what is submitted, for no reason at all.
  bool sends_nothing = false;

  /// Answers the calls that are held, in order.
  void release();
  /// Answers the one of them that came first.
  void release_first();
  /// Breaks the connection, if there is one.
  void disconnect();
  /// Forgets the session, and the client id too when `client_too`.
  void forget(bool client_too);
  /// Forgets what it knows of the slots above this one.
  void retire_slots_above(nfs4::slotid4 highest);
  /// Makes a callback; `encode` writes the CB_COMPOUND behind the RPC header. The answer is in
  /// callback_answers() when it has come.
  void call_back(std::function<void(xdr::Encoder&)> encode, std::uint32_t program,
                 std::uint32_t version = 1, std::uint32_t procedure = nfs4::kProcCbCompound);

  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  std::vector<Arrival> arrivals_of(nfs4::nfs_opnum4 opnum) const;
  std::size_t executions_of(nfs4::nfs_opnum4 opnum) const;
  /// How often the client has asked for what is unhurried.
  int hurries() const { return hurries_; }
  /// That of the last CREATE_SESSION.
  const nfs4::sessionid4& session() const { return session_id_; }
  const nfs4::CREATE_SESSION4args& session_args() const { return session_args_; }
  struct CallbackAnswer {
    rpc::AcceptStat status;
    std::vector<std::byte> results;
  };
  const std::vector<CallbackAnswer>& callback_answers() const { return callback_answers_; }
  /// What the client did against the rules of sessions; empty is good.
  const std::vector<std::string>& violations() const { return violations_; }

  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override;
  std::string_view description() const override { return "fake server"; }

 private:
  friend class FakeChannel;
  using Handler = std::function<nfs4::nfsstat4(xdr::Decoder&, xdr::Encoder&)>;

  struct Outcome {
    Fate fate;
    std::vector<std::byte> reply;
  };

  Outcome receive(int connection, rpc::Call& call);
  std::vector<std::byte> execute(const Arrival& arrival, xdr::Decoder in);
  bool is_retry(const responder::Slot& slot, const nfs4::SEQUENCE4args& args,
                std::uint64_t fingerprint);
  void replay(const responder::Slot& slot, xdr::Encoder& out);
  /// False: its first operation has failed, so that no slot takes the request.
  bool run_compound(xdr::Decoder& in, xdr::Encoder& out);
  nfs4::nfsstat4 run_operations(xdr::Decoder& in, xdr::Encoder& out, std::uint32_t count,
                                std::uint32_t& results);
  nfs4::nfsstat4 run_one(nfs4::nfs_opnum4 opnum, xdr::Decoder& in, xdr::Encoder& out);
  responder::Outcome<responder::Slot*> slot_for(const nfs4::SEQUENCE4args& args) const;
  nfs4::slotid4 target() const;
  void set_session_handlers();
  void create_session(const nfs4::CREATE_SESSION4args& args, nfs4::CREATE_SESSION4res& result);

  Reactor& reactor_;
  std::map<nfs4::nfs_opnum4, Handler> handlers_;
  std::map<nfs4::nfs_opnum4, std::pair<nfs4::nfsstat4, int>> failures_;
  std::map<nfs4::nfs_opnum4, std::size_t> executions_;
  std::vector<Arrival> arrivals_;
  std::vector<std::string> violations_;
  std::vector<CallbackAnswer> callback_answers_;
  FakeChannel* channel_ = nullptr;
  int hurries_ = 0;
  int connections_ = 0;

  std::uint32_t instance_ = 1;  ///< client ids are made of it
  responder::SessionTable sessions_;
  std::unique_ptr<responder::ClientTable> clients_;
  nfs4::sessionid4 session_id_{};
  nfs4::CREATE_SESSION4args session_args_;
  std::vector<std::byte> scratch_;               ///< the reply that is being put together
  std::deque<std::vector<std::byte>> replayed_;  ///< payloads of a reply that is sent again
  std::uint32_t granted_slots_ = 1;  ///< what CREATE_SESSION said; the target may be above
  bool bound_ = false;               ///< the present connection is bound to the session
};

}  // namespace nfsrdma::client::test
