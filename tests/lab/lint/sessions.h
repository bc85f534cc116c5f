// Sessions of NFSv4.1 as a capture shows them, over all its connections (RFC 8881 section 2.10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "tests/lab/lint/rpc_rules.h"

namespace nfsrdma::lab {

/// A slot of one channel. Nothing: not known.
struct Slot {
  std::optional<std::uint32_t> last;     ///< sequence number of the last request that was answered
  std::optional<std::uint32_t> pending;  ///< of the one that is not
  std::size_t connection = 0;            ///< of the last request
};

struct Channel {
  std::optional<nfs4::channel_attrs4> attributes;
  std::map<std::uint32_t, Slot> slots;
};

struct Session {
  bool made_here = false;  ///< the capture has its CREATE_SESSION
  Channel fore;
  Channel back;
  std::set<std::size_t> backchannels;  ///< connections
};

/// A COMPOUND and the state it is judged against.
struct SessionEvent {
  const RpcEvent& rpc;
  const Session* session = nullptr;  ///< of its SEQUENCE, or of its call's
  const Channel* channel = nullptr;
  const Slot* slot = nullptr;
  std::optional<std::uint32_t> next_create;  ///< csa_sequence that CREATE_SESSION should have
};

std::span<const Rule<SessionEvent>> session_rules();

class Sessions {
 public:
  /// At a time; the oldest id is forgotten. So are slots beyond kMostSlots of a channel.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostSlots = 4096;

  SessionEvent look_up(const RpcEvent& rpc) const;
  /// To be called behind the rules.
  void take(const RpcEvent& rpc);
  /// The call was ended by a transport error: whether it was executed is not known, and its caller
  /// may find that out on the same connection (RFC 8267 section 6.6).
  void take_transport_error(const CompoundArguments& asked);

 private:
  void take_call(const RpcEvent& rpc);
  void take_reply(const RpcEvent& rpc);
  void take_sequence_result(const RpcEvent& rpc);
  void take_new_session(const RpcEvent& rpc);
  Channel* channel_of(const CompoundArguments& asked);

  std::map<nfs4::sessionid4, Session> sessions_;
  std::map<nfs4::clientid4, std::uint32_t> next_create_;
};

}  // namespace nfsrdma::lab
