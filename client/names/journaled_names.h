// Records what is asked and found about names.
#pragma once

#include <cstdint>

#include "client/names/name_service.h"
#include "transport/journal/journaled_reactor.h"

namespace nfsrdma::client {

/// Wraps a service that has the outer loop. Belongs to the shard.
class JournaledNames final : public NameService {
 public:
  /// Both outlive it. `names` gives no answer after the end of this.
  JournaledNames(NameService& names, journal::JournaledReactor& reactor)
      : names_(names), reactor_(reactor) {}

  void find_number(OwnerKind kind, const std::string& name, GetNumber answer) override;
  void find_name(OwnerKind kind, std::uint32_t number, GetName answer) override;

 private:
  NameService& names_;
  journal::JournaledReactor& reactor_;
  std::uint32_t questions_ = 0;
};

/// Bodies of Kind::name_asked: the number of the question, and what is asked.
journal::Body number_question(std::uint32_t question, OwnerKind kind, const std::string& name);
journal::Body name_question(std::uint32_t question, OwnerKind kind, std::uint32_t number);

}  // namespace nfsrdma::client
