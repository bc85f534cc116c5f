// One slot of a session's fore channel and its reply cache (RFC 8881 section 2.10.6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "client/proto/ops_session.h"
#include "tests/responder/nfs/fs/outcome.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

/// A reply as it was encoded, with the bytes of its DDP-eligible items.
class CachedReply {
 public:
  /// Copies the bytes of `out` from offset `from` on.
  void store(const xdr::Encoder& out, std::size_t from);
  /// Encodes the reply again. `scratch` gives memory for an item's bytes, which must stay until
  /// they are sent. False when the reply or an item does not fit.
  using Scratch = std::function<std::span<std::byte>(std::size_t)>;
  bool replay(xdr::Encoder& out, const Scratch& scratch) const;
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

/// How a request relates to the last one of its slot.
enum class Order { next, retry };

/// By their numbers; SEQ_MISORDERED for any other. `used`: there was a last one. For the slots of a
/// session and for the one of a client's CREATE_SESSIONs.
Outcome<Order> order_of(nfs4::sequenceid4 sequence, nfs4::sequenceid4 last, bool used);

struct Slot {
  /// SEQ_FALSE_RETRY: the number of the last request with another fingerprint. DELAY: a retry of a
  /// request that has not been answered.
  Outcome<Order> check(nfs4::sequenceid4 number, std::uint64_t of_request) const;

  nfs4::sequenceid4 sequence = 0;  ///< of the last request
  bool used = false;               ///< there was a request
  bool in_progress = false;        ///< the last request has not been answered yet
  std::uint64_t fingerprint = 0;   ///< of the last request, to notice false retries
  nfs4::SEQUENCE4resok result;     ///< what SEQUENCE answered to it
  CachedReply reply;               ///< the whole last reply; empty when it was not to be cached
};

}  // namespace nfsrdma::responder
