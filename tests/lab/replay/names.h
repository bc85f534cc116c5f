// Values of a server, and what stands for them in a script.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/lab/text/node.h"

namespace nfsrdma::lab::replay {

class Names {
 public:
  /// `client` is the client's id in the capture, as text.
  explicit Names(std::string client) : client_(std::move(client)) {}

  /// Takes in the result of an operation; `place` is where it will be found: "c7.OPEN".
  void learn(std::string_view operation, const Node& result, const std::string& place);
  /// The handle `handle` will be found there.
  void learn_handle(const std::string& handle, const std::string& place) {
    handles_[handle] = place;
  }
  bool knows_handle(const std::string& handle) const { return handles_.contains(handle); }

  /// The arguments with names instead of values. Notes whose they are: used().
  Node replace(std::string_view operation, const Node& arguments);

  /// Answers that something was named after.
  const std::set<std::string, std::less<>>& used() const { return used_; }

 private:
  Node replaced(std::string_view operation, const std::string& field, const Node& node);
  Node stateid(const Node& node);
  void walk(const Node& node, const std::string& place);
  Node name(const std::string& place);

  std::string client_;
  std::map<std::string, std::string> handles_;
  std::map<std::string, std::string> stateids_;  ///< by their text
  std::map<std::string, std::string> others_;    ///< by `other` alone
  std::map<std::string, std::string> cookies_;
  std::map<std::string, std::string> verifiers_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace nfsrdma::lab::replay
