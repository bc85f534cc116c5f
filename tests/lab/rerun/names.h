// Names of a rerun.
#pragma once

#include <map>
#include <variant>

#include "client/names/name_service.h"
#include "tests/lab/rerun/recording.h"
#include "tests/lab/rerun/world.h"

namespace nfsrdma::lab::rerun {

/// Answers what the recording has.
class RerunNames final : public client::NameService {
 public:
  /// Outlived by `world`.
  explicit RerunNames(World& world) : world_(world) {}

  void find_number(client::OwnerKind kind, const std::string& name, GetNumber answer) override;
  void find_name(client::OwnerKind kind, std::uint32_t number, GetName answer) override;
  /// Kind::name_found.
  void found(const Entry& entry);

 private:
  World& world_;
  std::uint32_t questions_ = 0;
  std::map<std::uint32_t, std::variant<GetNumber, GetName>> open_;
};

}  // namespace nfsrdma::lab::rerun
