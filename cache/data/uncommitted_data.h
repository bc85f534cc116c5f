// Data written to one file with UNSTABLE4 and not yet known to be on stable storage (RFC 8881
// sections 18.3, 18.32). If the server restarts before the COMMIT, its verifier differs and the
// data is sent again from here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "cache/data/uncommitted_memory.h"

namespace nfsrdma::cache {

/// verifier4: changes when the server may have lost uncommitted data.
using WriteVerifier = std::array<std::byte, 8>;

/// The pieces never overlap: newer data replaces the part of older data it covers. So the order in
/// which pieces are sent again does not matter, as long as no new write runs at the same time (see
/// OpenInode::gate). Belongs to one shard.
class UncommittedData {
 public:
  explicit UncommittedData(UncommittedMemory& memory) : pieces_(&memory.nodes()) {}

  /// A WRITE of `kept` at `offset` was answered UNSTABLE4 with this verifier.
  void keep(std::uint64_t offset, const Uncommitted& kept, const WriteVerifier& verifier);
  /// A stable WRITE of these bytes was answered: older data of theirs must never be sent again.
  void supersede(std::uint64_t offset, std::uint64_t length);
  /// The file was cut off or extended to this size.
  void truncate(std::uint64_t size);

  bool empty() const { return pieces_.empty(); }
  std::size_t pieces() const { return pieces_.size(); }
  /// The end of the byte that is farthest from the file's start; 0 without any.
  std::uint64_t end() const {
    return pieces_.empty() ? 0 : pieces_.rbegin()->first + pieces_.rbegin()->second.length();
  }

  /// Names the data that a COMMIT sent now will cover.
  struct Mark {
    std::uint64_t order = 0;
  };
  Mark mark() const { return {order_}; }
  /// Whether something is kept that a COMMIT sent at `mark` covers.
  bool any_until(Mark mark) const;
  /// A COMMIT sent at `mark` was answered: forgets the data that is durable now, and returns how
  /// many pieces the server may have lost. The caller sends those again.
  std::size_t committed(Mark mark, const WriteVerifier& verifier);
  /// The COMMIT sent at `mark` failed: forgets the data that it covered, lost pieces as well.
  void abandon(Mark mark);

  /// A piece to be sent again with FILE_SYNC4. `kept` keeps its bytes alive.
  struct Lost {
    std::uint64_t offset = 0;
    Uncommitted kept;
  };
  std::optional<Lost> next_lost() const;

 private:
  struct Piece {
    Uncommitted kept;
    WriteVerifier verifier{};
    std::uint64_t order = 0;  ///< counts writes in the order of their replies
    bool lost = false;

    std::uint64_t length() const { return kept.data.size(); }
  };
  using Pieces = std::pmr::map<std::uint64_t, Piece>;

  void split_at(std::uint64_t offset);

  Pieces pieces_;  ///< by offset
  std::uint64_t order_ = 0;
};

}  // namespace nfsrdma::cache
