#include "tests/lab/shrink/reduce.h"

#include <algorithm>

namespace nfsrdma::lab::shrink {

bool Reducer::still_fails() {
  const std::string text = to_text(script_);
  const std::size_t hash = std::hash<std::string>()(text);
  if (left_ == 0 || known_.contains(hash)) return false;
  --left_;
  if (fails_(text)) return true;
  known_.insert(hash);
  return false;
}

/// `parts` belongs to script_: what is left out of it is left out there.
bool Reducer::reduce_parts(std::vector<Part>& parts) {
  bool reduced = false;
  for (std::size_t size = parts.size(); size > 0 && !parts.empty(); size /= 2) {
    for (std::size_t end = parts.size(); end > 0 && left_ > 0;) {
      const std::size_t begin = end - std::min(size, end);
      std::vector<Part> whole = parts;
      const auto first = parts.begin();
      parts.erase(first + static_cast<std::ptrdiff_t>(begin),
                  first + static_cast<std::ptrdiff_t>(end));
      if (still_fails()) {
        reduced = true;
      } else {
        parts = std::move(whole);
      }
      end = begin;
    }
  }
  return reduced;
}

bool Reducer::reduce_level(Part& part, bool statements) {
  bool reduced = part.statements == statements && reduce_parts(part.parts);
  for (Part& each : part.parts) {
    if (!each.parts.empty()) reduced |= reduce_level(each, statements);
  }
  return reduced;
}

const Part& Reducer::run() {
  bool reduced = true;
  while (reduced && left_ > 0) {
    reduced = reduce_level(script_, true);
    reduced |= reduce_level(script_, false);
  }
  return script_;
}

}  // namespace nfsrdma::lab::shrink
