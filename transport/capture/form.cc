#include "transport/capture/form.h"

namespace nfsrdma::capture {

std::vector<std::string> file_names(const std::string& path, std::size_t files) {
  if (files <= 1) return {path};
  const std::size_t folder = path.rfind('/');
  const std::size_t name = folder == std::string::npos ? 0 : folder + 1;
  std::size_t ending = path.rfind('.');
  if (ending == std::string::npos || ending <= name) ending = path.size();
  const std::size_t digits = std::to_string(files - 1).size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, digits - number.size(), '0');
    names.push_back(path.substr(0, ending) + "-" + number + path.substr(ending));
  }
  return names;
}

}  // namespace nfsrdma::capture
