#include "tests/lab/text/file.h"

#include <cerrno>
#include <fstream>
#include <iterator>

namespace nfsrdma::lab {

Result<std::string> read_whole(const std::string& path, const char* step) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Error::from_errno(errno, step, path));
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return fail(Error::from_errno(errno, step, path));
  return bytes;
}

}  // namespace nfsrdma::lab
