#include "tests/responder/transport/failed_calls.h"

#include <algorithm>

namespace nfsrdma::responder {

std::size_t FailedCalls::index_of(std::string_view client, std::uint32_t xid) const {
  const auto place = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.strikes > 0 && entry.xid == xid && entry.client == client;
  });
  return static_cast<std::size_t>(place - entries_.begin());
}

void FailedCalls::note_loss(std::string_view client, std::uint32_t xid, bool only_candidate) {
  std::size_t index = index_of(client, xid);
  if (index == kRemembered) {
    index = next_;
    next_ = (next_ + 1) % kRemembered;
    entries_[index] = Entry{std::string(client), xid, 0};
  }
  entries_[index].strikes += only_candidate ? kStrikesToBlame : 1;
}

bool FailedCalls::blamed(std::string_view client, std::uint32_t xid) const {
  const std::size_t index = index_of(client, xid);
  return index != kRemembered && entries_[index].strikes >= kStrikesToBlame;
}

}  // namespace nfsrdma::responder
