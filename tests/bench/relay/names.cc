#include "tests/bench/relay/names.h"

namespace nfsrdma::bench::relay {

Node* Names::find(std::uint64_t node) {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::string Names::path_of(std::uint64_t folder, std::string_view name) {
  const Node* const node = find(folder);
  return (node ? node->path : std::string()) + "/" + std::string(name);
}

bool Names::is_missing(std::uint64_t folder, const std::string& path) {
  const Node* const node = find(folder);
  return !node || (node->made_here && !numbers_.contains(path));
}

std::uint64_t Names::add(const std::string& path, const fuse_attr& attributes) {
  const auto [number, added] = numbers_.try_emplace(path, last_ + 1);
  if (added) ++last_;
  Node& node = nodes_[number->second];
  node.path = path;
  node.attributes = attributes;
  node.known = true;
  return number->second;
}

void Names::remove(const std::string& path) {
  const auto number = numbers_.find(path);
  if (number == numbers_.end()) return;
  nodes_.erase(number->second);
  numbers_.erase(number);
}

}  // namespace nfsrdma::bench::relay
