// One counter of anything that has visit_counters().
#pragma once

#include <cstdint>
#include <string_view>

#include "transport/base/metrics.h"

namespace nfsrdma::testing {

/// 0 when nothing is counted by that name.
template <class Counted>
std::uint64_t counter_of(const Counted& counted, std::string_view name) {
  struct Find final : CounterVisitor {
    explicit Find(std::string_view counter) : wanted(counter) {}
    void visit(std::string_view counter, std::uint64_t value) override {
      if (counter == wanted) found = value;
    }
    std::string_view wanted;
    std::uint64_t found = 0;
  } find(name);
  counted.visit_counters(find);
  return find.found;
}

}  // namespace nfsrdma::testing
