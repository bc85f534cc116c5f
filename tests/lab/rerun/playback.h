// Goes along a recording: what comes from outside is taken from it, what is given out compared.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "tests/lab/rerun/recording.h"
#include "tests/lab/rerun/world.h"

namespace nfsrdma::lab::rerun {

/// Where a run is not the recorded one, or what is wrong with the recording.
struct Difference {
  std::size_t entry = 0;  ///< its place in the recording, from 1
  TimePoint time{0};
  std::string recorded;  ///< in words; empty: nothing
  std::string made;      ///< what came instead; empty: nothing
};

/// Told of the first difference, in the midst of the work that made it. Must not return.
using OnDifference = std::function<void(const Difference&)>;

/// The place in the recording. Belongs to the thread of the run.
class Playback final : public World {
 public:
  /// `recording` outlives it.
  Playback(const Recording& recording, OnDifference on_difference)
      : entries_(recording.entries), on_difference_(std::move(on_difference)) {}

  /// Does the work of an input.
  std::function<void(const Entry&)> deliver;

  /// The next input that comes by itself; null: the recording ends.
  const Entry* take_input();
  void give(journal::Kind kind, const journal::Body& body) override;
  std::size_t seen(const char* what, std::span<std::byte> memory, std::size_t size) override;

  /// The recording has no more: what is done now is that of its last input.
  bool over() const { return next_ == entries_.size(); }
  std::size_t place() const { return next_; }
  [[noreturn]] void damaged(std::string_view why) override;

 private:
  [[noreturn]] void differs(std::string made);

  const std::vector<Entry>& entries_;
  const OnDifference on_difference_;
  std::size_t next_ = 0;
  TimePoint time_{0};  ///< of the last input
};

}  // namespace nfsrdma::lab::rerun
