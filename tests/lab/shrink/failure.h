// How a script fails: what must stay the same while it is cut down.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::shrink {

/// Says how a script fails; empty: it does not, or it is none.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual Result<std::string> failure_of(const std::string& text) = 0;
};

/// Runs it against a server, which `network` outlives. A failure is the expectation that does not
/// hold, with what came, without numbers of this run.
std::unique_ptr<Judge> judge_by_server(Network& network, script::RunnerOptions options);

/// Gives it to a program as a file: in the words that have {}, or else behind all. A failure is how
/// the program ends, if not with 0.
std::unique_ptr<Judge> judge_by_program(std::vector<std::string> words, Duration limit);

/// What is left of an expectation's message when the run's own numbers are taken out of it.
std::string without_numbers(const std::string& message);

}  // namespace nfsrdma::lab::shrink
