#include "fuse/ops/place.h"

#include <utility>

namespace nfsrdma::fuse {

cache::Place place_of(FileSystem& fs, const InodeRef& directory, std::string name) {
  cache::Place place{directory, std::move(name)};
  const auto node = fs.kernel().advertised_node(*directory, place.name);
  if (!node) return place;
  const InodeRef inode = *node == 0 ? InodeRef() : fs.inodes().find(*node);
  if (*node == 0 || inode) place.leads_to = inode;
  return place;
}

}  // namespace nfsrdma::fuse
