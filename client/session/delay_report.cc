#include "client/session/delay_report.h"

#include <chrono>

#include "client/compound/operation_names.h"
#include "transport/base/log.h"
#include "transport/base/sync/pauses.h"

namespace nfsrdma::client {
namespace {

constexpr Duration kIsLong = std::chrono::seconds(10);
constexpr Duration kBetweenReports = std::chrono::minutes(1);

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void DelayReport::put_off(Compound& compound, TimePoint now) {
  const Duration waited = now - compound.span().begun;
  if (waited < kIsLong || (reported_ && now - *reported_ < kBetweenReports)) return;
  reported_ = now;
  log::warning(
      "the server has put off {} for {:.0f} s (NFS4ERR_DELAY): it is busy, short of "
      "something, or waits for another client. It is asked again every {} s; killed callers are "
      "let go",
      operation_names(compound), seconds(waited),
      std::chrono::duration_cast<std::chrono::seconds>(Backoff::kLongest).count());
}

// A warning like the one of put_off(), so that an administrator who saw that one sees its end.
void DelayReport::answered(Compound& compound, TimePoint now) {
  const TimePoint begun = compound.span().begun;
  if (compound.span().delays == 0 || !reported_ || *reported_ < begun) return;
  ended_lines_.warning(now, "the server has answered {} after {:.0f} s", operation_names(compound),
                       seconds(now - begun));
}

}  // namespace nfsrdma::client
