// Verifiers of exclusive creates (RFC 8881 section 18.16.3), to tell a retried create from another.
#pragma once

#include <deque>
#include <unordered_map>

#include "client/proto/types.h"
#include "tests/responder/nfs/fs/file_stat.h"

namespace nfsrdma::responder {

/// Remembers the verifier each file was created with; the oldest go first. A retry comes within a
/// lease or so, long before that.
class ExclusiveCreates {
 public:
  void remember(const InodeKey& key, const nfs4::verifier4& verifier) {
    if (!verifiers_.insert_or_assign(key, verifier).second) return;
    order_.push_back(key);
    if (order_.size() <= kMaxRemembered) return;
    verifiers_.erase(order_.front());
    order_.pop_front();
  }
  bool matches(const InodeKey& key, const nfs4::verifier4& verifier) const {
    const auto found = verifiers_.find(key);
    return found != verifiers_.end() && found->second == verifier;
  }

 private:
  static constexpr std::size_t kMaxRemembered = 1 << 16;

  std::unordered_map<InodeKey, nfs4::verifier4, InodeKeyHash> verifiers_;
  std::deque<InodeKey> order_;
};

}  // namespace nfsrdma::responder
