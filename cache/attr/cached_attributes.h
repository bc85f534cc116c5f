// The remembered attributes of one file: which replies may replace them, and how long they are
// believed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/attr/file_attributes.h"
#include "cache/attr/policy.h"

namespace nfsrdma::cache {

/// When a request for attributes was sent. Replies may overtake each other; this tells which one
/// the server computed later, as far as that can be known.
struct Issue {
  std::uint64_t order = 0;
  TimePoint at{};
};

/// Numbers requests in the order they are sent. One for each mount.
class IssueClock {
 public:
  Issue issue(TimePoint now) { return {++last_, now}; }
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_ = 0;
};

/// Belongs to one shard. Timeouts adapt as those of the Linux client: they start at the shortest,
/// fall back to it on every change, and double up to the longest each time a revalidation after a
/// full period finds no change.
class CachedAttributes {
 public:
  enum class Outcome : std::uint8_t {
    older,      ///< the reply was overtaken by a newer one; nothing was taken from it
    unchanged,  ///< confirms what was known
    changed,    ///< new, or the change attribute or a file's size differs from what was known
  };

  /// Takes in the attributes of a reply to the request `issue`. A reply to a request that was sent
  /// after the last update is newer for certain; one that overlapped with it counts as newer if its
  /// change attribute is.
  Outcome store(const FileAttributes& fresh, const Issue& issue, const IssueClock& clock,
                const AttributePolicy& policy);
  /// The same of a reply that had only a part of them, the data's: the others are as old as before.
  /// A reply to store() that it overtakes counts for these.
  Outcome store_data(const FileAttributes& fresh, const Issue& issue, const IssueClock& clock,
                     const AttributePolicy& policy);

  bool known() const { return known_; }
  /// The attributes; all zero until known().
  const FileAttributes& value() const { return value_; }

  /// Known, and nothing has happened that makes them wrong: right as long as no other client can
  /// change the file.
  bool stands() const { return known_ && !expired_; }

  /// How much longer the attributes may be used without asking; zero when not at all.
  Duration remaining(TimePoint now) const;
  /// The same of what store_data() renews.
  Duration data_remaining(TimePoint now) const;
  /// Whether the server computed the attributes after the requests up to `order` were sent.
  bool newer_than(std::uint64_t order) const { return issued_at_ > order; }
  /// The same of what store_data() renews.
  bool data_newer_than(std::uint64_t order) const { return data_issued_at_ > order; }
  /// The present period: also how long a name looked up in this directory may be believed.
  Duration period() const { return period_; }
  /// Notes when store() found the file changed: its version was known by then.
  void seen(TimePoint now) { seen_at_ = now; }
  TimePoint seen_at() const { return seen_at_; }
  /// Something has happened that makes the attributes wrong; they stay as a base for comparison.
  void expire() { expired_ = true; }
  /// The same of an operation that has ended before any request after `order` was sent: what
  /// earlier ones answer, now or later, may be of before it.
  void expire_answers(std::uint64_t order) {
    expired_ = true;
    expired_at_ = order;
    updated_at_ = std::max(updated_at_, order);
  }

 private:
  Duration remaining_since(TimePoint fetched_at, TimePoint now) const;
  Outcome update(const FileAttributes& fresh);
  bool is_older(const FileAttributes& fresh, std::uint64_t order, std::uint64_t updated_at) const;
  void restart_period(const Issue& issue, const AttributePolicy& policy);
  void lengthen_period(const Issue& issue, const AttributePolicy& policy);

  FileAttributes value_;
  std::uint64_t updated_at_ = 0;  ///< requests up to this order were sent before the last update
  std::uint64_t data_updated_at_ = 0;  ///< the same of store_data()
  std::uint64_t expired_at_ = 0;       ///< what they answer may be of before an own change
  std::uint64_t issued_at_ = 0;        ///< order of the request that brought the value
  std::uint64_t data_issued_at_ = 0;   ///< the same of what store_data() renews
  TimePoint fetched_at_{};
  TimePoint data_fetched_at_{};
  TimePoint seen_at_{};
  TimePoint period_start_{};
  Duration period_{};
  bool known_ = false;
  bool expired_ = false;
};

}  // namespace nfsrdma::cache
