#include "transport/capture/message_bounds.h"

#include <algorithm>

namespace nfsrdma::capture {
namespace {

constexpr std::size_t kRecordMark = 4;
constexpr std::uint32_t kLastFragment = 0x80000000;
constexpr std::size_t kStartupHeader = 20;  // key, flags, revision, PD_Length
constexpr std::size_t kUlpduLength = 2;
constexpr std::size_t kCrc = 4;
constexpr std::size_t kFpduUnit = 4;

}  // namespace

std::size_t MessageBounds::head_size() const {
  if (carried_ == Carried::records) return kRecordMark;
  return startup_ ? kStartupHeader : kUlpduLength;
}

/// The head is whole.
void MessageBounds::read_head() {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint32_t>(head_[at]); };
  if (carried_ == Carried::records) {
    const std::uint32_t mark = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    left_ = mark & ~kLastFragment;
    more_ = (mark & kLastFragment) == 0;
    return;
  }
  if (startup_) {
    left_ = byte(kStartupHeader - 2) << 8 | byte(kStartupHeader - 1);
    return;
  }
  const std::uint64_t length = byte(0) << 8 | byte(1);
  const std::uint64_t padded = (kUlpduLength + length + kFpduUnit - 1) / kFpduUnit * kFpduUnit;
  left_ = padded - kUlpduLength + kCrc;
}

std::size_t MessageBounds::take(std::span<const std::byte> bytes) {
  if (carried_ == Carried::messages || carried_ == Carried::datagrams) return bytes.size();
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const bool in_head = left_ == 0;
    const std::uint64_t wanted = in_head ? head_size() - have_ : left_;
    const auto step =
        static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size() - taken));
    const auto part = bytes.subspan(taken, step);
    taken += step;
    if (startup_) startup_bytes_.insert(startup_bytes_.end(), part.begin(), part.end());
    if (in_head) {
      std::copy(part.begin(), part.end(), head_.begin() + static_cast<std::ptrdiff_t>(have_));
      have_ += step;
      if (have_ < head_size()) break;
      read_head();
    } else {
      left_ -= step;
    }
    if (left_ != 0) continue;
    have_ = 0;
    startup_ = false;
    if (!more_) break;
  }
  return taken;
}

}  // namespace nfsrdma::capture
