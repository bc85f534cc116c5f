// Owner and group names to numbers and back. Most servers send numbers (RFC 8881 section 5.9),
// which cost nothing here; names are asked of a NameService, which may take long.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "client/names/name_service.h"
#include "client/proto/object.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::client {

/// The owners of one reply whose names are being looked up. While there are none it has no memory.
class OwnerNames {
 public:
  struct Name;

  bool pending() const { return !names_.empty(); }
  /// Waits for the answers, or for IdMap::kPatience at most.
  Task<void> wait();
  /// Fills in the answers. An owner without an answer stays not numeric: show it as nobody (65534),
  /// and do not cache it.
  void fill(Attributes& attributes) const;
  /// wait(), then fill().
  Task<void> resolve(Attributes& attributes);

 private:
  friend class IdMap;
  /// By the beginning of their text, which tells a user from a group of the same name.
  std::unordered_map<const char*, std::shared_ptr<Name>> names_;
};

/// Belongs to one shard; never blocks it.
class IdMap {
 public:
  static constexpr std::uint32_t kNobody = 65534;
  /// How long an operation waits for a name. The look-up goes on behind it.
  static constexpr Duration kPatience = std::chrono::seconds(5);
  /// How long operations do not wait again for a name whose look-up took longer.
  static constexpr Duration kUnansweredTime = std::chrono::seconds(60);
  static constexpr Duration kHitTime = std::chrono::seconds(600);  ///< as the Linux client has it
  static constexpr Duration kMissTime = std::chrono::seconds(60);
  /// Names of users, and of groups, that are remembered: a server may send any number.
  static constexpr std::size_t kMostNames = 4096;

  /// `service` outlives the IdMap; null: all names are unknown.
  IdMap(Reactor& reactor, NameService* service);
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;
  ~IdMap();

  /// Makes owner and group numeric. A name that is not known yet is asked for, and added to
  /// `names`, to be waited for. Afterwards the attributes hold no view of a message.
  void resolve(Attributes& attributes, OwnerNames& names);
  /// "user@domain"; empty when there is none, or none was told in time.
  Task<std::string> name_of(OwnerKind kind, std::uint32_t number);

  /// The mount is ending: wakes all waiters; none waits any more.
  void end();

  /// The last refusal (NFS4ERR_BADOWNER) was one of numbers, and the server then accepted names.
  bool names_preferred() const { return names_preferred_; }
  void prefer_names(bool names) { names_preferred_ = names; }

 private:
  using Name = OwnerNames::Name;
  using NameRef = std::shared_ptr<Name>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// Of users or of groups. Names without waiters stand in `idle`, least recently used first.
  struct Cache {
    std::unordered_map<std::string, NameRef, Hash, std::equal_to<>> names;
    IntrusiveList<Name> idle;
  };

  void resolve_one(nfs4::Owner& owner, OwnerKind kind, OwnerNames& waited_for);
  NameRef obtain(std::string_view text, OwnerKind kind);
  void ask(const NameRef& name, OwnerKind kind);
  void answered(Name& name, OwnerKind kind, std::optional<std::uint32_t> number);
  void unanswered(Name& name);
  Cache& cache(OwnerKind kind) { return caches_[static_cast<std::size_t>(kind)]; }

  Reactor& reactor_;
  NameService* service_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for answers that come too late
  std::array<Cache, 2> caches_;
  WaitQueue asking_names_;  // operations in name_of()
  bool ended_ = false;
  bool names_preferred_ = false;
};

}  // namespace nfsrdma::client
