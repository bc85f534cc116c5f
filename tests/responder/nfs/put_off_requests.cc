#include "tests/responder/nfs/put_off_requests.h"

#include <algorithm>
#include <iterator>

namespace nfsrdma::responder {

void PutOffRequests::note_known(const InodeKey& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) found->second.known = ++moments_;
}

bool PutOffRequests::is_served(const InodeKey& file, std::uint64_t request, TimePoint now) {
  Watched& watched = files_[file];
  const auto [first, last] = watched.waiting.equal_range(request);
  if (first == last) {
    if (waits_for_another(request)) starved_until_ = now + kStarved;
    watched.waiting.emplace(request, Waiting{++moments_, now});
    return false;
  }
  // Requests that are alike cannot be told apart: take the first.
  const bool served = first->second.since < watched.known;
  if (served) {
    watched.waiting.erase(first);
  } else {
    first->second.last = now;
  }
  return served;
}

bool PutOffRequests::waits_for_another(std::uint64_t request) const {
  return std::ranges::any_of(
      files_, [&](const auto& file) { return file.second.waiting.contains(request); });
}

bool PutOffRequests::sweep(TimePoint now) {
  for (auto file = files_.begin(); file != files_.end();) {
    auto& waiting = file->second.waiting;
    std::erase_if(waiting, [&](const auto& each) { return now - each.second.last >= kKept; });
    file = waiting.empty() ? files_.erase(file) : std::next(file);
  }
  return !files_.empty();
}

}  // namespace nfsrdma::responder
