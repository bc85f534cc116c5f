// Sending written bytes, whether their caller still waits or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/write/write_back.h"
#include "client/requests/write.h"

namespace nfsrdma::cache {

class Writer;

/// Bytes on their way to the server. They lie in `slot` until they are kept elsewhere.
struct Outgoing {
  Buffer* slot = nullptr;  ///< outlives the sending; empty after it if the bytes are kept in it
  std::span<const std::byte> data;
  std::uint64_t offset = 0;
  nfs4::stable_how4 stable = nfs4::UNSTABLE4;
  WriteOrder::Kind kind = WriteOrder::Kind::gathered;
  WriteOrder::Place place = WriteOrder::Place::anywhere;
  bool whole = false;  ///< an error is one even if some bytes were written before it
  client::FileLocks::LockRef
      lock{};  ///< that it is written under (cache/file/io_lock.h); null: none
};

/// One WRITE by this open, in the name of `lock` if there is one. Takes in the attributes of the
/// reply; if those do not cover the WRITE, expires the cached ones.
Task<Result<client::Written>> write_once(WriteBack& writes, FileRef file, std::uint64_t offset,
                                         std::span<const std::byte> data, nfs4::stable_how4 stable,
                                         client::FileLocks::LockRef lock);

/// Takes the write's turn in the order of the file, of which `writer` is told if there is one.
/// Sends all bytes, by as many WRITEs as it takes, and returns how many the server took. Those it
/// took as unstable are kept until a COMMIT. Unless the caller wants all bytes written, an error
/// counts only if no byte was.
Task<Result<std::size_t>> send_write(WriteBack& writes, FileRef file, Outgoing outgoing,
                                     Writer* writer = nullptr);

}  // namespace nfsrdma::cache
