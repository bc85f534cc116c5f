// What an input of fuzz_record is: the most bytes of one read of the socket (0: no bound), then
// the stream.
#pragma once

#include <cstdint>

namespace nfsrdma::fuzz {

/// The calls that are open when the stream begins.
enum OpenRecordCall : std::uint32_t { kPlainXid = 1, kReadXid = 2, kSecondReadXid = 3 };
inline constexpr std::size_t kSinkBytes = 3000;
/// Bytes that no reply may touch, behind each sink.
inline constexpr std::size_t kGuardBytes = 64;

}  // namespace nfsrdma::fuzz
