// Sessions (RFC 8881 section 2.10): slots of the fore channel, the path of the back channel.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/proto/ops_session.h"
#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/session/slot.h"
#include "tests/responder/service.h"

namespace nfsrdma::responder {

struct Client;

/// One callback operation: encodes its arguments, and takes its result.
struct Callback {
  std::function<void(xdr::Encoder&)> encode;
  /// The decoder stands at the operation's result.
  std::function<void(const Result<xdr::Decoder>&)> done;
};

/// The server's way to call the client.
struct BackChannel {
  /// Sets the program and the credential of callbacks: the first of `security` that is spoken here,
  /// AUTH_NONE or AUTH_SYS (RFC 8881 section 18.36.3); AUTH_NONE when the list is empty. False,
  /// without a change, when none of them is spoken here.
  bool aim(std::uint32_t program, const std::vector<nfs4::callback_sec_parms4>& security);

  bool wanted = false;               ///< the client asked for one
  Connection* connection = nullptr;  ///< null: the path is down
  CallbackTarget target;
  nfs4::channel_attrs4 attributes;
  nfs4::sequenceid4 sequence = 0;  ///< of the last callback on slot 0
  bool busy = false;               ///< slot 0 has a callback outstanding
  std::deque<Callback> waiting;    ///< for slot 0
};

struct Session : std::enable_shared_from_this<Session> {
  Session(const nfs4::sessionid4& session_id, Client& owner, const nfs4::channel_attrs4& fore)
      : id(session_id), client(&owner), attributes(fore), slots(fore.ca_maxrequests) {
    target_slots = fore.ca_maxrequests;
  }

  /// The slot that SEQUENCE names; BADSLOT, BAD_HIGH_SLOT.
  Outcome<Slot*> slot_for(const nfs4::SEQUENCE4args& args);
  /// A new request takes the slot. The caller clears `in_progress` when it has answered.
  void begin(Slot& slot, const nfs4::SEQUENCE4args& args, std::uint64_t fingerprint);
  /// sr_target_highest_slotid + 1; slots above it go once the client has stopped using them.
  void set_target(std::uint32_t target);
  /// Follows sa_highest_slotid, the highest slot that the client still uses.
  void adjust_slots(nfs4::slotid4 highest_used);

  const nfs4::sessionid4 id;
  Client* client;  ///< null once the session has been destroyed
  nfs4::channel_attrs4 attributes;
  std::vector<Slot> slots;
  std::uint32_t target_slots;
  BackChannel back;
};
using SessionRef = std::shared_ptr<Session>;

struct SessionIdHash {
  std::size_t operator()(const nfs4::sessionid4& id) const;
};

class SessionTable {
 public:
  SessionTable(const ChannelLimits& limits, std::uint32_t instance)
      : limits_(limits), instance_(instance) {}
  /// Requests that are still held back see that their session has gone.
  ~SessionTable();

  /// `fore` and `back` are clamped in place to the granted limits; TOOSMALL when those are useless.
  nfs4::nfsstat4 negotiate(nfs4::channel_attrs4& fore, nfs4::channel_attrs4& back) const;
  SessionRef create(Client& client, const nfs4::channel_attrs4& fore);
  /// Null when there is no such session (BADSESSION).
  SessionRef find(const nfs4::sessionid4& id) const;
  void destroy(const nfs4::sessionid4& id);
  void destroy_all_of(const Client& client);
  void destroy_all();
  std::size_t size() const { return sessions_.size(); }
  bool has_any(const Client& client) const { return count_of(client) != 0; }
  std::size_t count_of(const Client& client) const;

  void connection_closed(const Connection& connection);
  /// Applies to all sessions, those to come included.
  void set_target_slots(std::uint32_t slots);
  std::uint32_t target_slots() const { return target_slots_; }

  template <class Visit>
  void for_each(Visit&& visit) {
    for (auto& [id, session] : sessions_) visit(*session);
  }

 private:
  ChannelLimits limits_;
  std::uint32_t instance_;
  std::uint32_t next_ = 1;
  std::uint32_t target_slots_ = UINT32_MAX;
  std::unordered_map<nfs4::sessionid4, SessionRef, SessionIdHash> sessions_;
};

}  // namespace nfsrdma::responder
