// What two servers have answered to one script, without what no two servers have in common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::script {

/// Replaces handles, stateids, session and client ids, verifiers, cookies, times and the like by
/// names that say in which order they came (object#1), and decodes attributes. Of one server each.
class Normalise {
 public:
  /// Without `equalities` all such values are one and the same: what a server calls anew may be
  /// called as something was before.
  explicit Normalise(bool equalities = true) : equalities_(equalities) {}
  Node operator()(const Node& node);

 private:
  Node normalised(const std::string& name, const Node& node);
  Node attributes(const Node& fattr);
  std::string known(const std::string& kind, const std::string& value);

  bool equalities_;
  std::map<std::string, std::map<std::string, std::size_t>> seen_;
};

struct Difference {
  int line = 0;
  std::string where;  ///< "reply: READ.resok4.eof"
  std::string first;
  std::string second;
};

/// Where two trees differ first, as a path below `path`; nothing when they do not.
std::optional<Difference> first_difference(const Node& first, const Node& second,
                                           const std::string& path);

/// The first difference of each event, in order.
std::vector<Difference> find_differences(const std::vector<Event>& first,
                                         const std::vector<Event>& second);

}  // namespace nfsrdma::lab::script
