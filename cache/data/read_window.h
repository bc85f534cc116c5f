// How far ahead a file is read: as far as a reader takes bytes while one READ is on its way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// One for each open file that is read ahead. It grows when the reader has had to wait, to twice
/// the bandwidth times the delay: the bytes it took since the READ was sent, in as much of that
/// time as an undisturbed READ takes. A READ that waits in a queue behind others is therefore no
/// reason to grow. Pure state.
class ReadWindow {
 public:
  static constexpr std::size_t kFirst = std::size_t{512} << 10;

  /// Reading ahead begins, for a reader that asks for so much at once. Never more than `most`
  /// bytes.
  void begin(std::size_t request, std::size_t most) {
    most_ = most;
    bytes_ = std::min(std::max(kFirst, 2 * request), most_);
    least_ = Duration::max();
  }
  std::size_t bytes() const { return bytes_; }
  /// Bytes of one READ, so that several are in flight.
  std::size_t piece(std::size_t request) const { return std::max(bytes_ / 2, request); }

  /// A READ has been answered after `took`.
  void arrived(Duration took) { least_ = std::min(least_, std::max(took, Duration{1})); }
  /// The reader has waited for it, and has asked for so many bytes since it was sent.
  void waited(Duration took, std::uint64_t taken, std::size_t piece) {
    const double share =
        static_cast<double>(least_.count()) / static_cast<double>(std::max(took, least_).count());
    const double in_flight = static_cast<double>(taken) * share;
    const std::size_t wanted = static_cast<std::size_t>(2 * in_flight) + 2 * piece;
    bytes_ = std::min(std::max(bytes_, wanted), most_);
  }

 private:
  std::size_t bytes_ = 0;
  std::size_t most_ = 0;
  Duration least_ = Duration::max();
};

}  // namespace nfsrdma::cache
