// Which request of the kernel the work of the moment is done for.
//
// It follows a coroutine: whoever waits (sync/, rpc::submit, Sleep) goes on with the origin it had.
// Nobody passes it on by hand, and nothing is decided by it: it is there to be seen in spans.
#pragma once

#include <cstdint>
#include <utility>

namespace nfsrdma {

/// The number that the kernel gave a request (FUSE `unique`).
using Origin = std::uint64_t;
/// Work that no request waits for: lease renewal, write-behind, recovery.
inline constexpr Origin kNoOrigin = 0;

namespace detail {
inline thread_local constinit Origin present_origin = kNoOrigin;
}  // namespace detail

inline Origin present_origin() { return detail::present_origin; }

/// What is called until the end of the scope is done for that request. Must not live across a
/// suspension.
class OriginScope {
 public:
  explicit OriginScope(Origin origin) : before_(std::exchange(detail::present_origin, origin)) {}
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;
  ~OriginScope() { detail::present_origin = before_; }

 private:
  const Origin before_;
};

}  // namespace nfsrdma
