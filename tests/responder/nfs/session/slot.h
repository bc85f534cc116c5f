// One slot of a session's fore channel and its reply cache (RFC 8881 section 2.10.6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/proto/ops_session.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

class ServerCall;

/// A reply as it was encoded, with the bytes of its DDP-eligible items.
class CachedReply {
 public:
  /// Copies what was encoded into `out` from offset `from` on.
  void store(const xdr::Encoder& out, std::size_t from);
  /// Encodes the reply again into the results of `call`. False when it does not fit.
  bool replay(ServerCall& call) const;
  bool empty() const { return bytes_.empty(); }
  /// From now on it is of something else: each word behind COMPOUND's status and tag.
  void spoil();
  void clear();

 private:
  struct Item {
    std::size_t offset;  // of its count word in bytes_
    std::vector<std::byte> data;
  };

  std::vector<std::byte> bytes_;
  std::vector<Item> items_;
};

struct Slot {
  enum class Check { next, replay, misordered };

  /// How `next` relates to the last request of the slot.
  Check check(nfs4::sequenceid4 next) const;

  nfs4::sequenceid4 sequence = 0;  ///< of the last request
  bool used = false;               ///< there was a request
  bool in_progress = false;        ///< the last request has not been answered yet
  std::uint64_t fingerprint = 0;   ///< of the last request, to notice false retries
  nfs4::SEQUENCE4resok result;     ///< what SEQUENCE answered to it
  CachedReply reply;               ///< the whole last reply; empty when it was not to be cached
};

}  // namespace nfsrdma::responder
