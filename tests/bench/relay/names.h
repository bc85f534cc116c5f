// The files and folders that the kernel knows, and what the relay knows of them.
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nfsrdma::bench::relay {

struct Node {
  std::string path;  ///< below the served folder
  fuse_attr attributes{};
  bool known = false;              ///< the attributes are
  bool made_here = false;          ///< a folder in which nobody else makes names
  std::vector<std::byte> content;  ///< as open has brought it
  bool has_content = false;        ///< ... and nobody has written since
};

class Names {
 public:
  Names() { nodes_[FUSE_ROOT_ID].path = "."; }

  /// Null: nobody looked it up, or it was removed.
  Node* find(std::uint64_t node);
  std::string path_of(std::uint64_t folder, std::string_view name);
  /// Whether there is no such name for sure.
  bool is_missing(std::uint64_t folder, const std::string& path);
  /// The number of what lies at the path.
  std::uint64_t add(const std::string& path, const fuse_attr& attributes);
  void remove(const std::string& path);

 private:
  std::uint64_t last_ = FUSE_ROOT_ID;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

}  // namespace nfsrdma::bench::relay
