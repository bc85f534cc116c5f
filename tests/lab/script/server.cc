#include "tests/lab/script/server.h"

#include <algorithm>
#include <array>

namespace nfsrdma::lab::script {
namespace {

constexpr std::array<std::string_view, 3> kCarriers = {"iwarp", "verbs", "tcp"};

}  // namespace

std::string carrier_fault(std::string_view carrier) {
  const bool known = carrier.empty() || std::ranges::find(kCarriers, carrier) != kCarriers.end();
  return known ? "" : "--transport: iwarp, verbs or tcp";
}

Carrier carrier_of(std::string_view name) {
  if (name == "verbs") return Carrier::verbs;
  if (name == "tcp") return Carrier::tcp;
  return name == "socket" ? Carrier::socket : Carrier::iwarp;
}

Server read_server(const std::string& text, const std::string& carrier) {
  Server server;
  server.text = text;
  server.carrier = carrier;
  std::string rest = text;
  for (const std::string_view name : kCarriers) {
    if (!rest.starts_with(std::string(name) + ':')) continue;
    server.carrier = name;
    rest.erase(0, name.size() + 1);
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
