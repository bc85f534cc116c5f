// Bytes that UNSTABLE4 WRITEs have overwritten, so that a restart can lose the WRITEs (RFC 8881
// section 18.32.4).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/responder/nfs/fs/file_table.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

/// Only of WRITEs that a fault script marks. Belongs to the reactor's thread.
class UnstableData {
 public:
  /// Call before a WRITE of so many bytes: keeps the old bytes, as far as they can be
  /// read.
  void remember(FileTable& files, const FileRef& file, std::uint64_t offset, std::size_t length);
  /// The file has been given this size, which a restart does not take back.
  void resized(const File& file, std::uint64_t size);
  /// The file's data is on stable storage.
  void committed(const File& file) { files_.erase(file.key()); }
  /// Restores the old bytes. Returns the number of lost WRITEs.
  std::size_t lose();

 private:
  struct Before {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
    off_t size;  ///< of the whole file
  };
  struct Kept {
    UniqueFd fd;
    std::vector<Before> writes;
  };

  std::unordered_map<InodeKey, Kept, InodeKeyHash> files_;
};

}  // namespace nfsrdma::responder
