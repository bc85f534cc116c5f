// Owner and group names to numbers. Most servers send numbers (RFC 8881 section 5.9); names are
// looked up in the system's databases by a helper thread, because that may take long.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/types.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Belongs to one shard; never blocks it. A name that is not known yet is "nobody" until the
/// helper has found it.
class IdMap {
 public:
  static constexpr std::uint32_t kNobody = 65534;

  explicit IdMap(Reactor& reactor);
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;
  /// Does not wait for a look-up that is under way.
  ~IdMap();

  /// Makes owner and group numeric. Afterwards the attributes hold no view of a message.
  void resolve(Attributes& attributes);

 private:
  struct Shared;
  enum class Kind : std::uint8_t { user, group };

  std::uint32_t number_of(std::string_view name, Kind kind);
  static void work(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace nfsrdma::client
