// What lint says: a broken rule, or a note of what ends a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/capture/wire.h"
#include "tests/lab/lint/rule.h"

namespace nfsrdma::lab {

struct Finding {
  Source source;
  std::size_t connection = 0;
  RuleName rule;
  std::string seen;
  bool note = false;  ///< tells of trouble, breaks no rule
};

/// The findings of a capture, in its order.
class Findings {
 public:
  /// What is kept; the rest is counted.
  static constexpr std::size_t kMostKept = 10000;

  void add(Finding finding);
  const std::vector<Finding>& all() const { return kept_; }
  std::uint64_t broken() const { return broken_; }
  std::uint64_t notes() const { return notes_; }

 private:
  std::vector<Finding> kept_;
  std::uint64_t broken_ = 0;
  std::uint64_t notes_ = 0;
};

}  // namespace nfsrdma::lab
