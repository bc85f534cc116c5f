// A middleman that understands iWARP: changes, adds and leaves out DDP segments on their way to the
// client.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/hostile/middleman.h"
#include "tests/hostile/relay.h"
#include "tests/transport/fabric/iwarp/wire_frames.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::hostile {

namespace wire = fabric::testing::wire;
using Frame = fabric::testing::Bytes;

/// The memory that one call lends the server.
struct Offer {
  std::uint32_t xid = 0;
  std::vector<fabric::Segment> to_write;  ///< Write chunks, then the Reply chunk
  std::vector<fabric::Segment> to_read;
  bool answered = false;
  bool lends() const { return !to_write.empty() || !to_read.empty(); }
  /// A segment of what is lent.
  const fabric::Segment& any() const {
    return to_write.empty() ? to_read.front() : to_write.front();
  }
};

/// When an attack strikes a call.
enum class At {
  startup,  ///< the MPA Reply of a new connection
  call,     ///< the call has come, the server does not know it yet
  write,    ///< each segment of an RDMA Write into what the call lends
  read,     ///< the first Read Request for what the call lends
  reply,    ///< the reply
  after,    ///< the reply has gone on to the client
};

class IwarpConversation;

/// What an attack has in its hands.
class Strike {
 public:
  Strike(IwarpConversation& on, const Offer& of) : conversation(on), offer(of) {}

  IwarpConversation& conversation;
  const Offer& offer;
  /// At write, read and reply: what comes from the server, and whether it goes on.
  wire::Segment* segment = nullptr;
  bool forward = true;
  /// At write: of this call, from 0.
  std::size_t index = 0;
  /// At startup: the frame, which may be changed.
  Frame* startup = nullptr;

  /// Goes to the client before the segment. An untagged one gets the number that comes next when it
  /// has kNext.
  void inject(const wire::Segment& segment);
  void inject(std::span<const std::byte> bytes);
  static constexpr std::uint32_t kNext = ~0U;

  /// Bytes that may be nowhere in the client's memory.
  Frame forbidden(std::size_t size);
  /// A Read Request. When `allowed` is false it must not be answered with a byte.
  void read(const wire::Read& read, bool allowed);
  /// Calls before this one that have lent memory, the latest first: answered ones of this
  /// connection, or those of an older one. Null: there is none.
  const Offer* before(bool same_connection, std::size_t back = 0) const;
  /// Nothing of the server reaches the client any more on this connection.
  void silence();
  void reset();
  void finish();
};

struct WireAttack {
  std::string name;
  At at = At::call;
  enum class Needs { anything, to_write, to_read } needs = Needs::anything;
  std::function<void(Strike&)> strike;
  /// Whether no client can see that the server lies.
  bool deceives = false;
};

class IwarpMiddleman final : public Middleman {
 public:
  IwarpMiddleman(Reactor& reactor, const net::Address& server);

  /// Strikes the next call that has what the attack needs, or each.
  void arm(const WireAttack& attack, bool for_ever);
  /// Calls that were struck since.
  std::size_t struck() const { return struck_.size(); }
  /// What calls have lent while an attack was armed.
  const std::set<WireAttack::Needs>& seen() const { return seen_; }

  net::Address address() const override { return relay_.address(); }
  void lift() override;
  std::string harm(std::span<const std::span<std::byte>> memory) override;

 private:
  friend class IwarpConversation;
  friend class Strike;

  void note(const Offer& offer);
  const WireAttack* wants(const Offer& offer, At at);
  bool fits(const Offer& offer) const;
  /// Eight bytes that occur in this attack alone.
  std::array<std::byte, 8> mark() const;

  Reactor& reactor_;
  WireAttack attack_;
  bool armed_ = false;
  bool for_ever_ = false;
  bool silent_ = false;  ///< some connection is
  bool marked_ = false;  ///< forbidden bytes were sent
  std::uint64_t number_ = 0;
  std::size_t leaked_ = 0;
  std::set<std::uint32_t> struck_;
  std::set<WireAttack::Needs> seen_;
  std::deque<std::pair<const void*, Offer>> offers_;  ///< with their connection, the latest last
  Relay relay_;
};

}  // namespace nfsrdma::hostile
