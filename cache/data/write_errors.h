// Errors of writes that no call could report when they happened. An open file reports each at every
// close(2) of its descriptors until an fsync(2) through it has reported it.
#pragma once

#include <cstdint>

namespace nfsrdma::cache {

/// One for each file with open handles. A close is not the end of an error: a child process, or a
/// program that was started, closes descriptors whose writer has yet to ask.
class WriteErrors {
 public:
  /// How many errors one open file knows of.
  struct Seen {
    std::uint32_t synced = 0;  ///< an fsync has reported so many
    std::uint32_t closed = 0;  ///< they were reported before it was opened, by whichever call
  };

  void record(int error_number) {
    error_number_ = error_number;
    ++count_;
    synced_ = told_ = false;
  }
  /// For a new open file. Its fsync reports errors from now on, and an older one if no fsync has
  /// reported that; its close such an older one only if no close has, either.
  Seen sample() const { return {synced_ ? count_ : count_ - 1, told_ ? count_ : count_ - 1}; }
  /// The errno that fsync reports to this open file now, or 0.
  int due(const Seen& seen) const { return seen.synced == count_ ? 0 : error_number_; }
  /// The same, and it has been reported.
  int take(Seen& seen) {
    const int error_number = due(seen);
    if (error_number != 0) synced_ = told_ = true;
    seen.synced = count_;
    return error_number;
  }
  /// The errno that close reports to this open file now, or 0. It stays due.
  int due_at_close(const Seen& seen) const { return seen.closed == count_ ? 0 : due(seen); }
  /// That was reported.
  void told_at_close() { told_ = true; }
  /// No call has reported the last error.
  bool unreported() const { return !told_; }

 private:
  std::uint32_t count_ = 0;
  int error_number_ = 0;
  bool synced_ = true;  ///< an fsync has reported the last error, or there is none
  bool told_ = true;    ///< a call has
};

}  // namespace nfsrdma::cache
