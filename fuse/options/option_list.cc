#include "fuse/options/option_list.h"

#include <utility>

namespace nfsrdma::fuse {

std::vector<std::string> split_option_list(std::string_view list) {
  std::vector<std::string> items;
  std::string item;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      if (!item.empty()) items.push_back(std::exchange(item, {}));
      continue;
    }
    if (list[i] == '\\' && i + 1 < list.size()) ++i;
    item += list[i];
  }
  if (!item.empty()) items.push_back(std::move(item));
  return items;
}

}  // namespace nfsrdma::fuse
