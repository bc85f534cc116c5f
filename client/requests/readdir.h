// READDIR (RFC 8881 section 18.23).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// One name of a directory. `.` and `..` are not among them.
struct Entry {
  std::uint64_t cookie = 0;  ///< where to continue after this entry
  std::string name;
  FileHandle handle;      ///< length 0 when the server gave none
  Attributes attributes;  ///< at least fileid when the server has it
  /// The attributes and handle asked for are there; false when they were not asked for or the
  /// server answered rdattr_error for this entry.
  bool has_attributes = false;
};

struct DirectoryPage {
  std::vector<Entry> entries;
  /// Names that no directory can have; they are not among the entries.
  std::size_t left_out = 0;
  /// The cookie of the last name, even if left out; without names, the cookie of the request.
  std::uint64_t last_cookie = 0;
  nfs4::verifier4 verifier{};  ///< to be given with the next request
  /// The change attribute of the directory, as of just before the page; nothing when the server did
  /// not tell, or it differed among the requests that the page took.
  std::optional<std::uint64_t> change;
  bool eof = false;
};

/// cookie 0 and a zero verifier start from the beginning. `max_bytes` bounds the reply; it is
/// clipped by the session's limits. Pages in which every name is impossible are passed over, a
/// bounded number of them in succession.
Task<Result<DirectoryPage>> readdir(RequestContext& context, Credential caller, FileHandle dir,
                                    std::uint64_t cookie, nfs4::verifier4 verifier,
                                    std::uint32_t max_bytes, bool with_attributes);

}  // namespace nfsrdma::client
