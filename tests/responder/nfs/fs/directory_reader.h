// Reading directories in pieces.
//
// Cookies are the file system's own directory offsets (d_off). A few directories stay open between
// requests: a listing that goes on where it stopped costs no seek, and file systems whose offsets
// hold for one open descriptor only are read correctly.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <vector>

#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/nfs/fs/file_table.h"

namespace nfsrdma::responder {

struct DirectoryEntry {
  const char* name;          ///< ends with NUL; valid until the next call
  std::uint64_t cookie = 0;  ///< where the listing goes on behind this entry
};

/// An open directory and a position in it.
class DirectoryStream {
 public:
  DirectoryStream(FileRef directory, const Identity& who, UniqueFd fd);

  /// The entry at the position, without moving; null at the end. "." and ".." are skipped.
  Outcome<const DirectoryEntry*> peek();
  /// Moves behind the entry that peek returned.
  void advance();
  Outcome<void> seek(std::uint64_t cookie);

  int fd() const { return fd_.get(); }
  std::uint64_t position() const { return position_; }
  bool serves(const FileRef& directory, const Identity& who) const;

 private:
  static constexpr std::size_t kBlockSize = 32 * 1024;

  Outcome<bool> fill();

  FileRef directory_;
  Identity who_;
  UniqueFd fd_;
  std::uint64_t position_ = 0;
  bool peeked_ = false;
  DirectoryEntry entry_{};
  std::vector<std::byte> block_;
  std::size_t filled_ = 0;
  std::size_t next_ = 0;
};

class DirectoryReader {
 public:
  explicit DirectoryReader(FileTable& files) : files_(files) {}

  /// A stream at `cookie`, with the rights of `who`. Valid until the next call.
  Outcome<DirectoryStream*> open(const Identity& who, const FileRef& directory,
                                 std::uint64_t cookie);
  void clear() { streams_.clear(); }

 private:
  static constexpr std::size_t kMaxStreams = 32;

  FileTable& files_;
  std::list<DirectoryStream> streams_;  // most recently used first
};

}  // namespace nfsrdma::responder
