// The file system attributes that statfs(2) reports (RFC 8881 section 5.8.2).
#pragma once

#include <cstdint>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

struct FileSystemStatus {
  std::uint64_t space_total = 0;  ///< bytes
  std::uint64_t space_free = 0;
  std::uint64_t space_avail = 0;  ///< bytes this caller may use
  std::uint64_t files_total = 0;
  std::uint64_t files_free = 0;
  std::uint64_t files_avail = 0;
  std::uint32_t max_name = 255;  ///< bytes of a name
};

Task<Result<FileSystemStatus>> statfs(RequestContext& context, Credential caller, FileHandle file);

}  // namespace nfsrdma::client
