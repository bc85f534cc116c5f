// Finds out what a server makes of each rule.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/probe/row.h"
#include "tests/lab/script/server.h"

namespace nfsrdma::lab::probe {

using script::Server;

struct Answer {
  std::string text;    ///< "yes", "no", "no answer", a value; "-": does not apply
  std::string detail;  ///< what came instead of what was expected
  script::Proof proof;
};

/// Asks one server. Makes lab-probe in its directory, and removes it at the end.
class Probe {
 public:
  Probe(Network& network, Server server, Duration patience);

  /// Makes the directory's and the file's handles known. Without them rows that need them are no.
  Result<void> set_up();
  Answer ask(const Row& row);
  void clean_up();
  const Server& server() const { return server_; }

 private:
  Result<void> run(script::Runner& runner, const std::string& text);
  script::RunnerOptions options() const;

  Network& network_;
  Server server_;
  Duration patience_;
  Node directory_ = Node::word("0x");
  Node file_ = Node::word("0x");
};

int run_probe(std::span<char*> words);

}  // namespace nfsrdma::lab::probe
