#include "tests/lab/lint/finding.h"

#include <utility>

namespace nfsrdma::lab {

void Findings::add(Finding finding) {
  ++(finding.note ? notes_ : broken_);
  if (kept_.size() < kMostKept) kept_.push_back(std::move(finding));
}

}  // namespace nfsrdma::lab
