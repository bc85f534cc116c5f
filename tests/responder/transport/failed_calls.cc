#include "tests/responder/transport/failed_calls.h"

namespace nfsrdma::responder {

FailedCalls::Entry* FailedCalls::find(std::string_view client, std::uint32_t xid) {
  for (auto& entry : entries_) {
    if (entry.strikes > 0 && entry.xid == xid && entry.client == client) return &entry;
  }
  return nullptr;
}

void FailedCalls::suspect(std::string_view client, std::uint32_t xid, bool only_candidate) {
  Entry* entry = find(client, xid);
  if (!entry) {
    entry = &entries_[next_];
    next_ = (next_ + 1) % kRemembered;
    *entry = Entry{std::string(client), xid, 0};
  }
  entry->strikes += only_candidate ? kStrikesToBlame : 1;
}

bool FailedCalls::blamed(std::string_view client, std::uint32_t xid) const {
  const Entry* entry = const_cast<FailedCalls*>(this)->find(client, xid);
  return entry && entry->strikes >= kStrikesToBlame;
}

}  // namespace nfsrdma::responder
