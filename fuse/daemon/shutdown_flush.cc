#include "fuse/daemon/shutdown_flush.h"

#include <algorithm>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

/// Between two looks at the data that is left.
constexpr Duration kInterval = std::chrono::milliseconds(200);

}  // namespace

Task<void> ShutdownFlush::work() {
  co_await fs_.finish();
  finished_.set();
}

Task<bool> ShutdownFlush::finish(Duration patience) {
  fs_.mount().hurry();
  spawn(work());
  cache::Files::Unfinished left = fs_.files().unfinished();
  TimePoint changed = reactor_.now();
  while (!finished_.is_set() || left.unsaved()) {
    const Duration bound = left.unsaved() ? std::max(kSavePatience, patience) : patience;
    const Duration waited = reactor_.now() - changed;
    if (waited >= bound) break;
    co_await look_again_in(std::min(kInterval, bound - waited));
    const cache::Files::Unfinished now = fs_.files().unfinished();
    if (now != left) changed = reactor_.now();
    left = now;
  }
  if (left.unsaved()) log::warning("the server does not answer: what it has not got is lost");
  co_return finished_.is_set() && !left.unsaved();
}

// Data of files that are being closed is saved without a word.
Task<void> ShutdownFlush::look_again_in(Duration interval) {
  if (finished_.is_set()) {
    co_await Sleep(reactor_, interval);
  } else {
    co_await finished_.wait(interval);
  }
}

}  // namespace nfsrdma::fuse
