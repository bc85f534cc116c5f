#include "tests/lab/rerun/rerun.h"

#include "tests/lab/rerun/run.h"

namespace nfsrdma::lab::rerun {

Result<Outcome> run_again(const Recording& recording, OnDifference on_difference) {
  TRY(check_begun(recording));
  auto options = options_of(recording.head);
  if (!options) return fail_from(options);
  Outcome outcome;
  outcome.entries = recording.entries.size();
  if (outcome.entries > 0) {
    outcome.first = recording.entries.front().time;
    outcome.last = recording.entries.back().time;
  }
  static Playback* playback = nullptr;
  static Run* run = nullptr;
  playback = new Playback(recording, std::move(on_difference));
  run = new Run(*playback, std::move(*options));
  playback->deliver = [](const Entry& entry) { run->deliver(entry); };
  run->begin();
  while (const Entry* entry = playback->take_input()) {
    run->reactor().set_now(entry->time);
    run->deliver(*entry);
  }
  return outcome;
}

}  // namespace nfsrdma::lab::rerun
