// Whether the programs of a mount write each file with one write(2), as cp(1) and tar(1) do with
// small files.
#pragma once

#include <algorithm>

namespace nfsrdma::cache {

/// One for each mount; belongs to its shard.
class OneWriteFiles {
 public:
  /// So many in a row, and the next file is taken to be one.
  static constexpr unsigned kSure = 4;

  bool likely() const { return in_a_row_ == kSure; }
  /// A file is taken to be one; the next is not before this one has been flushed. So of files that
  /// are open side by side no two are mistaken for such.
  void expect() { --in_a_row_; }
  /// A file was flushed after one write, or written twice before that.
  void note(bool one_write) { in_a_row_ = one_write ? std::min(in_a_row_ + 1, kSure) : 0; }

 private:
  unsigned in_a_row_ = 0;
};

}  // namespace nfsrdma::cache
