// A middleman that understands records of RPC over TCP: changes, adds and leaves out replies on
// their way to the client.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/hostile/middleman.h"
#include "tests/hostile/relay.h"

namespace nfsrdma::hostile {

using Message = std::vector<std::byte>;

class RecordMiddleman;

/// One connection.
class RecordConversation final : public Conversation {
 public:
  RecordConversation(RecordMiddleman& man, Wire& wire);

  void from_client(std::span<const std::byte> bytes) override;
  void from_server(std::span<const std::byte> bytes) override;

  void emit(std::span<const std::byte> bytes);
  /// Later, behind what was to be emitted later before.
  void emit_after(Duration pause, std::span<const std::byte> bytes);
  void silence();
  Wire& wire() { return wire_; }

 private:
  friend class RecordStrike;
  void on_reply(Message message);
  void emit_next();

  RecordMiddleman& man_;
  Wire& wire_;
  Message replies_;  ///< not whole yet
  bool silent_ = false;
  std::deque<std::pair<Duration, Message>> later_;
  Timer timer_;
};

/// What an attack has in its hands: a reply, whole.
class RecordStrike {
 public:
  RecordStrike(RecordMiddleman& man, RecordConversation& on, Message& reply)
      : message(reply), conversation(on), man_(man) {}

  Message& message;
  bool forward = true;  ///< as one record of one fragment
  RecordConversation& conversation;

  /// A reply of before, or null: of this connection or of any.
  const Message* before() const;
  /// Another connection begins, and this reply comes there first.
  void on_the_next_connection();

 private:
  RecordMiddleman& man_;
};

struct RecordAttack {
  std::string name;
  std::function<void(RecordStrike&)> strike;
  /// Whether no client can see that the server lies.
  bool deceives = false;
};

class RecordMiddleman final : public Middleman {
 public:
  RecordMiddleman(Reactor& reactor, const net::Address& server);

  /// Strikes a reply after `skip` of them, or that and all that follow.
  void arm(const RecordAttack& attack, std::size_t skip, bool for_ever);
  std::size_t struck() const { return struck_; }
  /// Replies since an attack was armed, until it was lifted.
  std::size_t replies() const { return replies_; }

  net::Address address() const override { return relay_.address(); }
  void lift() override;
  std::string harm(std::span<const std::span<std::byte>>) override { return {}; }

 private:
  friend class RecordConversation;
  friend class RecordStrike;

  Reactor& reactor_;
  RecordAttack attack_;
  bool armed_ = false;
  bool for_ever_ = false;
  bool silent_ = false;
  std::size_t skip_ = 0;
  std::size_t struck_ = 0;
  std::size_t replies_ = 0;
  std::deque<Message> past_;  ///< replies, the latest last
  Message for_next_;
  Relay relay_;
};

/// The mark of a fragment of this length (RFC 5531 section 11).
Message record_mark(std::uint32_t length, bool last = true);
Message record_of(std::span<const std::byte> message);

}  // namespace nfsrdma::hostile
