// Delta debugging: leaves out of a script what is not needed for it to fail.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "tests/lab/shrink/parts.h"

namespace nfsrdma::lab::shrink {

class Reducer {
 public:
  /// Whether a script fails in the way that is looked for.
  using Fails = std::function<bool(const std::string& text)>;

  /// `script` fails. `tries` bounds how often `fails` is called.
  Reducer(Part script, std::size_t tries, Fails fails)
      : script_(std::move(script)), left_(tries), tries_(tries), fails_(std::move(fails)) {}

  /// Statements first, then operations, in halves, quarters and so on to single ones, the last ones
  /// first; again until nothing can be left out or no try is left. The same script and the same
  /// answers of `fails` lead to the same result.
  const Part& run();

  std::size_t tried() const { return tries_ - left_; }
  bool exhausted() const { return left_ == 0; }

 private:
  bool reduce_level(Part& part, bool statements);
  bool reduce_parts(std::vector<Part>& parts);
  bool still_fails();

  Part script_;
  std::size_t left_;
  std::size_t tries_;
  Fails fails_;
  std::set<std::size_t> known_;  ///< hashes of texts that do not fail
};

}  // namespace nfsrdma::lab::shrink
