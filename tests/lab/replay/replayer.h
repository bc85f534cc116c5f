// Issues steps to a server and compares its answers with those of the capture.
//
// Threading: all on the caller's thread.
#pragma once

#include <functional>
#include <optional>

#include "tests/lab/replay/judge.h"
#include "tests/lab/replay/steps.h"
#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::replay {

struct ReplayDifference {
  std::size_t step = 0;  ///< its place in Steps::steps
  script::Difference what;
};

class Replayer {
 public:
  /// `steps` outlives it.
  Replayer(Network& network, script::RunnerOptions options, const Steps& steps);

  /// Connects and makes a session.
  Result<void> begin();
  /// Issues the steps in their order; each difference is given to `tell`, which says whether to go
  /// on. Where the connection is lost, that is the last difference.
  void run(const std::function<bool(const ReplayDifference&)>& tell);
  /// Ends the session, and the client that it belongs to.
  void end();

  std::size_t answers() const { return answers_; }  ///< that were compared
  /// Calls that name something that no answer had: what follows from an earlier difference.
  std::size_t unsaid() const { return unsaid_; }

 private:
  Result<void> execute(const std::string& text);
  std::optional<script::Difference> issue(const Step& step, bool& lost);
  bool is_delayed();

  script::RunnerOptions options_;
  script::Runner runner_;
  const Steps& steps_;
  std::size_t answers_ = 0;
  std::size_t unsaid_ = 0;
};

}  // namespace nfsrdma::lab::replay
