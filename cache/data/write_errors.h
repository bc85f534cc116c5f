// Errors of writes that no call could report when they happened: each is reported once to every
// open file that could have caused it, at its next flush or fsync.
#pragma once

#include <cstdint>

namespace nfsrdma::cache {

/// One for each file with open handles.
class WriteErrors {
 public:
  /// How many of them one handle has seen.
  using Seen = std::uint32_t;

  void record(int error_number) {
    error_number_ = error_number;
    ++count_;
    reported_ = false;
  }
  /// For a new handle: errors from now on, and an older one if no handle has reported it.
  Seen sample() const { return reported_ ? count_ : count_ - 1; }
  /// The errno to report to this handle now, or 0.
  int due(Seen seen) const { return seen == count_ ? 0 : error_number_; }
  /// The same, and this handle has been told.
  int take(Seen& seen) {
    const int error_number = due(seen);
    if (error_number != 0) reported_ = true;
    seen = count_;
    return error_number;
  }
  bool unreported() const { return !reported_; }

 private:
  std::uint32_t count_ = 0;
  int error_number_ = 0;
  bool reported_ = true;
};

}  // namespace nfsrdma::cache
