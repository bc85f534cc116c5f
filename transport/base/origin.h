// The request of the kernel for which the program works at the moment.
//
// It follows a coroutine: after a wait (sync/, rpc::submit, Sleep) the coroutine has its own origin
// again. No code passes it on by hand. It is shown in spans, and asked for one thing: whether a
// change that is still to be sent is wanted (Session::watch_callers).
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

/// Functions called until the end of the scope work for that request. Must not live across a
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
