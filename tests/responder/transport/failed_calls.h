// Calls whose RDMA Reads or Writes broke a connection (RFC 8166 section 4.5.3, requirement F-25).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nfsrdma::responder {

/// A small ring over all connections. A peer that repeats such a call on a new connection is
/// answered ERR_CHUNK instead of losing that connection, too.
///
/// The provider says that a connection broke, not on which call. A call that was the only candidate
/// is to blame; one of several is blamed when it was a candidate twice.
class FailedCalls {
 public:
  static constexpr std::size_t kRemembered = 64;

  /// `client` is the peer's host without its port.
  void note_loss(std::string_view client, std::uint32_t xid, bool only_candidate);
  bool blamed(std::string_view client, std::uint32_t xid) const;

 private:
  struct Entry {
    std::string client;
    std::uint32_t xid = 0;
    unsigned strikes = 0;
  };
  static constexpr unsigned kStrikesToBlame = 2;

  /// kRemembered when there is none.
  std::size_t index_of(std::string_view client, std::uint32_t xid) const;

  std::array<Entry, kRemembered> entries_;
  std::size_t next_ = 0;
};

}  // namespace nfsrdma::responder
