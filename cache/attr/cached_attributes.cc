#include "cache/attr/cached_attributes.h"

#include <sys/stat.h>

#include <algorithm>

namespace nfsrdma::cache {
namespace {

/// Change attributes of most servers count upwards; the difference survives a wrap.
bool later(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b) > 0; }

/// What a reply to WRITE tells, of the newer one.
void keep_data(const FileAttributes& newer, FileAttributes& taken) {
  taken.change = newer.change;
  taken.size = newer.size;
  taken.space_used = newer.space_used;
  taken.modify_time = newer.modify_time;
  taken.change_time = newer.change_time;
}

}  // namespace

bool CachedAttributes::is_older(const FileAttributes& fresh, std::uint64_t order,
                                std::uint64_t updated_at) const {
  return known_ && order <= updated_at && !later(fresh.change, value_.change);
}

CachedAttributes::Outcome CachedAttributes::update(const FileAttributes& fresh) {
  // A slow clock gives two changes of one tick the same change attribute; of a directory the size
  // says nothing.
  const bool resized = fresh.size != value_.size && !S_ISDIR(fresh.mode);
  const bool changed = !known_ || fresh.change != value_.change || resized;
  value_ = fresh;
  known_ = true;
  return changed ? Outcome::changed : Outcome::unchanged;
}

CachedAttributes::Outcome CachedAttributes::store(const FileAttributes& fresh, const Issue& issue,
                                                  const IssueClock& clock,
                                                  const AttributePolicy& policy) {
  if (is_older(fresh, issue.order, updated_at_)) return Outcome::older;
  FileAttributes taken = fresh;
  if (is_older(fresh, issue.order, data_updated_at_)) keep_data(value_, taken);
  const Outcome outcome = update(taken);
  expired_ = issue.order <= expired_at_;
  updated_at_ = clock.last();
  issued_at_ = issue.order;
  data_issued_at_ = std::max(data_issued_at_, issue.order);
  fetched_at_ = issue.at;
  data_fetched_at_ = std::max(data_fetched_at_, issue.at);
  if (outcome == Outcome::changed) {
    restart_period(issue, policy);
  } else {
    lengthen_period(issue, policy);
  }
  return outcome;
}

CachedAttributes::Outcome CachedAttributes::store_data(const FileAttributes& fresh,
                                                       const Issue& issue, const IssueClock& clock,
                                                       const AttributePolicy& policy) {
  if (is_older(fresh, issue.order, std::max(updated_at_, data_updated_at_))) return Outcome::older;
  const Outcome outcome = update(fresh);
  data_updated_at_ = clock.last();
  data_issued_at_ = std::max(data_issued_at_, issue.order);
  data_fetched_at_ = std::max(data_fetched_at_, issue.at);
  if (outcome == Outcome::changed) restart_period(issue, policy);
  return outcome;
}

Duration CachedAttributes::remaining(TimePoint now) const {
  return remaining_since(fetched_at_, now);
}

Duration CachedAttributes::data_remaining(TimePoint now) const {
  return remaining_since(data_fetched_at_, now);
}

Duration CachedAttributes::remaining_since(TimePoint fetched_at, TimePoint now) const {
  if (!known_ || expired_) return Duration::zero();
  return std::max(Duration::zero(), fetched_at + period_ - now);
}

void CachedAttributes::restart_period(const Issue& issue, const AttributePolicy& policy) {
  period_ = policy.shortest(S_ISDIR(value_.mode));
  period_start_ = issue.at;
}

void CachedAttributes::lengthen_period(const Issue& issue, const AttributePolicy& policy) {
  if (issue.at < period_start_ + period_) return;
  period_ = std::min(2 * period_, policy.longest(S_ISDIR(value_.mode)));
  period_start_ = issue.at;
}

}  // namespace nfsrdma::cache
