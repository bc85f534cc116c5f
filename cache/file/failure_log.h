// Errors that programs get: one line and one count for each kind, so that an administrator finds
// where an I/O error came from.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "transport/base/error.h"
#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// An operation that failed, and its caller.
struct Failed {
  std::string_view operation;  ///< a literal: "read", "lookup", "write-behind"
  std::uint64_t fileid = 0;    ///< of the file or directory it was about; 0: not known
  std::string_view name = {};  ///< in that directory; empty: it was about the file itself
  pid_t caller = 0;            ///< 0: no caller waits for it
  bool data_lost = false;      ///< acknowledged data was lost: no error is an everyday one then
};

/// An answer that programs live with, such as ENOENT: the server, or this program in its place, has
/// looked and said no. An error from below NFS never is, whichever errno it becomes.
bool is_everyday(const Error& error);

/// Belongs to the shard's thread. Everyday errors are logged at debug. Others are warnings, a
/// bounded number of each kind, and all of them at debug. Both functions return the errno of the
/// error.
class FailureLog {
 public:
  /// Tells the path of a file for a line; empty where it is not known.
  using PathOf = std::function<std::string(const Failed&)>;

  /// `server`: as its administrator knows it.
  explicit FailureLog(std::string server = {}) : server_(std::move(server)) {}
  /// Lines have paths from now on.
  void set_paths(PathOf path_of) { path_of_ = std::move(path_of); }

  /// A program gets an error, or will get it from fsync(2) or close(2).
  int reported(const Failed& failed, const Error& error, TimePoint now);
  /// The error reaches no program: its caller is gone.
  int not_delivered(const Failed& failed, const Error& error);

  /// "errors_<operation>_<status>", those that were met only.
  void visit_counters(CounterVisitor& visitor) const;

 private:
  /// The server chooses codes: there may be more kinds than it is worth to tell apart.
  static constexpr std::size_t kMostKinds = 256;

  struct Kind {
    Counter count;
    log::Limit lines;
  };
  /// Operation, layer, code.
  using Key = std::tuple<std::string_view, Layer, int>;

  std::string sentence(const Failed& failed, const Error& error) const;
  Kind& kind_of(std::string_view operation, const Error& error);

  const std::string server_;
  PathOf path_of_;
  std::map<Key, Kind> kinds_;
  Kind others_;
  Counter everyday_;
  Counter errors_other_;
};

}  // namespace nfsrdma::cache
