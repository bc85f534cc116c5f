// Reading a file for a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/file/io_lock.h"
#include "cache/read/read_ahead.h"
#include "cache/write/write_back.h"
#include "transport/rpc/call.h"

namespace nfsrdma::cache {

/// A range to read, its reader, and the registered memory for it.
struct ReadArgs {
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

/// Reads as much as was asked for, by as many READs as it takes, or up to the end of the file.
/// Programs take a short answer for the end, so an error after some bytes is returned as an error.
/// Answers bytes that were read ahead from their slot, without a copy. Sends dirty data of the file
/// first, and waits for WRITEs in flight of the same bytes: when their pages are dropped meanwhile,
/// an older answer would put stale data back into the page cache. What the server has lost by a
/// restart is sent again before.
Task<Result<BytesRead>> read(ReadAhead& ahead, WriteBack& writes, FileRef file, ReadArgs args);

}  // namespace nfsrdma::cache
