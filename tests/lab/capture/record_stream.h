// One direction of RPC over TCP: record marks (RFC 5531 section 11).
#pragma once

#include <cstddef>
#include <vector>

#include "tests/lab/capture/tcp_stream.h"
#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

/// Whether a record of an RPC call or reply can begin like this.
bool begins_like_record(std::span<const std::byte> bytes);

/// Gives the observer whole records. Belongs to its connection; the observer outlives it.
class RecordStream final : public ByteConsumer {
 public:
  /// Longer ones are no NFS: the stream is given up.
  static constexpr std::size_t kMostRecord = 16 << 20;

  RecordStream(Side side, WireObserver& observer) : side_(side), observer_(observer) {}

  void on_bytes(std::span<const std::byte> bytes, Moment at) override;
  void on_gap(std::uint64_t bytes, Moment at) override;

 private:
  bool take_fragment(Moment at);

  Side side_;
  WireObserver& observer_;
  bool lost_ = false;
  bool nonsense_ = false;
  std::vector<std::byte> pending_;
  std::size_t begin_ = 0;
  std::vector<std::byte> record_;
};

}  // namespace nfsrdma::lab
