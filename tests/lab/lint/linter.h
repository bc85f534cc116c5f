// Judges the connections of a capture by the tables of rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/lab/capture/conversation.h"
#include "tests/lab/capture/reader.h"
#include "tests/lab/lint/finding.h"
#include "tests/lab/lint/sessions.h"

namespace nfsrdma::lab {

/// What was looked at.
struct Judged {
  ConnectionInfo info;
  std::uint64_t messages = 0;  ///< whole RPCs
  bool lossy = false;          ///< rules that need all of it were not judged
};

/// Outlives what it makes; sessions are common to all connections.
class Linter final : public WireObserverFactory {
 public:
  Linter() = default;
  Linter(const Linter&) = delete;
  Linter& operator=(const Linter&) = delete;

  std::unique_ptr<WireObserver> on_connection(const ConnectionInfo& info) override;
  const Findings& findings() const { return findings_; }
  const std::vector<std::unique_ptr<Judged>>& connections() const { return connections_; }

 private:
  class Judge;

  Findings findings_;
  Sessions sessions_;
  bool holes_ = false;  ///< in a connection so far: sessions are not known since then
  Budget budget_{std::size_t{512} << 20};
  std::vector<std::unique_ptr<Judged>> connections_;
};

}  // namespace nfsrdma::lab
