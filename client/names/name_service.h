// Interface of a service that knows the names of users and groups.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace nfsrdma::client {

enum class OwnerKind : std::uint8_t { user, group };

/// Names are as NFSv4.1 sends them, "user@domain" (RFC 8881 section 5.9). Belongs to one shard,
/// never blocks it, and answers on it: at once, later, or not at all.
class NameService {
 public:
  /// Gets the number that a name stands for; none when there is no such name.
  using GetNumber = std::function<void(std::optional<std::uint32_t>)>;
  /// Gets the name of a number; empty when it has none.
  using GetName = std::function<void(std::string)>;

  virtual ~NameService() = default;
  virtual void find_number(OwnerKind kind, const std::string& name, GetNumber answer) = 0;
  virtual void find_name(OwnerKind kind, std::uint32_t number, GetName answer) = 0;
};

}  // namespace nfsrdma::client
