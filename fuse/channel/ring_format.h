// FUSE over io_uring as the kernel lays it out (Linux 6.14, FUSE 7.42); <linux/fuse.h> of Debian 12
// does not have it. One uring command hands an entry to the kernel, and completes when a request
// lies in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nfsrdma::fuse {

/// FUSE_OVER_IO_URING, in flags2 of FUSE_INIT.
inline constexpr std::uint32_t kOverIoUring = 1U << (41 - 32);

/// The purpose of a command: its cmd_op.
enum class RingCommand : std::uint32_t {
  add_entry = 1,         ///< FUSE_IO_URING_CMD_REGISTER: an entry that waits for a request
  commit_and_fetch = 2,  ///< FUSE_IO_URING_CMD_COMMIT_AND_FETCH: the answer lies in the entry
};

/// The command's own part of a submission of 128 bytes: struct fuse_uring_cmd_req.
struct RingCommandArguments {
  std::uint64_t flags = 0;
  std::uint64_t commit_id = 0;  ///< of the request that is answered
  std::uint16_t queue = 0;      ///< one for each possible processor
  std::uint8_t padding[6]{};
};
static_assert(sizeof(RingCommandArguments) == 24);

/// struct fuse_uring_req_header: an entry without its payload, in both directions.
struct RingHeaders {
  static constexpr std::size_t kRoom = 128;
  std::byte in_out[kRoom];     ///< fuse_in_header, then fuse_out_header
  std::byte structure[kRoom];  ///< the operation's, as far as it has one
  std::uint64_t flags;
  std::uint64_t commit_id;
  std::uint32_t payload_size;  ///< bytes, in both directions
  std::uint32_t padding;
  std::uint64_t reserved;
};
static_assert(sizeof(RingHeaders) == 288);

}  // namespace nfsrdma::fuse
