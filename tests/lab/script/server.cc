#include "tests/lab/script/server.h"

#include <algorithm>
#include <string_view>

namespace nfsrdma::lab::script {

Server read_server(const std::string& text, const std::string& carrier) {
  Server server;
  server.text = text;
  server.carrier = carrier;
  std::string rest = text;
  for (const std::string_view name : {"iwarp:", "tcp:"}) {
    if (!rest.starts_with(name)) continue;
    server.carrier = name.substr(0, name.size() - 1);
    rest.erase(0, name.size());
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  server.address = rest.substr(0, slash);
  rest.erase(0, slash);
  while (!rest.empty()) {
    rest.erase(0, 1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (end > 0) server.path.push_back(rest.substr(0, end));
    rest.erase(0, end);
  }
  return server;
}

}  // namespace nfsrdma::lab::script
