// The slots of the back channel: here the client is the replier (RFC 8881 section 2.10.6.1.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/proto/ops_callback.h"
#include "client/proto/ops_session.h"

namespace nfsrdma::client {

/// Sequence numbers and cached replies. A replay is answered with the same result bytes, without
/// the RPC and transport headers, which are always fresh (E-8881-3).
class CallbackSlots {
 public:
  /// Verdict on CB_SEQUENCE's arguments.
  enum class Kind : std::uint8_t {
    fresh,   ///< execute it, then call finish()
    replay,  ///< answered before: cached() has the result
    refused  ///< `status` says why; the slot has not moved
  };
  struct Judgement {
    Kind kind = Kind::refused;
    nfs4::nfsstat4 status = nfs4::NFS4_OK;
  };

  /// A new session: `back` as granted.
  void reset(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back);

  /// `fingerprint` stands for the whole request, to tell a replay from another request.
  Judgement judge(const nfs4::CB_SEQUENCE4args& args, std::uint64_t fingerprint);
  /// Keeps the result of the request that judge() found fresh.
  void finish(nfs4::slotid4 slot, std::span<const std::byte> result);
  std::span<const std::byte> cached(nfs4::slotid4 slot) const { return slots_[slot].result; }

  std::uint32_t count() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t max_operations() const { return max_operations_; }

 private:
  struct Slot {
    nfs4::sequenceid4 seq = 0;  // of the last request executed
    std::uint64_t fingerprint = 0;
    bool cached = false;
    std::vector<std::byte> result;
  };

  nfs4::sessionid4 id_{};
  std::uint32_t max_operations_ = 0;
  std::size_t max_cached_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace nfsrdma::client
