// What lies outside a rerun.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "transport/journal/journal.h"

namespace nfsrdma::lab::rerun {

/// Takes what the run gives out, and answers what it looks up. Belongs to the thread of the run.
class World : public journal::Journal {
 public:
  virtual ~World() = default;
  /// See Reactor::from_outside().
  virtual std::size_t seen(const char* what, std::span<std::byte> memory, std::size_t size) = 0;
  /// The recording is not what this program writes.
  [[noreturn]] virtual void damaged(std::string_view why) = 0;
};

}  // namespace nfsrdma::lab::rerun
