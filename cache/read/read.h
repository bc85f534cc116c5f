// Reading a file for a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/file/io_lock.h"
#include "cache/read/read_ahead.h"
#include "cache/write/write_behind.h"
#include "transport/rpc/call.h"

namespace nfsrdma::cache {

/// What is to be read, by whom, and into which registered memory.
struct ReadWish {
  IoCaller by;
  std::uint64_t offset = 0;
  std::size_t size = 0;  ///< bytes; no more than fit the slot are read
  Buffer slot;
  bool through_pages = true;  ///< false (O_DIRECT): asks the server in any case
};

/// Bytes, and what keeps them valid.
struct BytesRead {
  std::span<const std::byte> data;
  bool ended = false;  ///< the file ends behind them
  Buffer slot;
  rpc::Reply reply;
  ReadPieceRef piece;
};

/// Reads as much as was asked for, by as many READs as it takes, or up to the end of the file: who
/// reads takes a short answer for that, so an error after some bytes is an error. What was read
/// ahead is given from where it lies. Sends dirty data of the file first, and waits for WRITEs
/// under way of the same bytes: when their pages are dropped meanwhile, an older answer would put
/// stale data back into the page cache.
Task<Result<BytesRead>> read(ReadAhead& ahead, WriteBehind& behind, FileRef file, ReadWish wish);

}  // namespace nfsrdma::cache
