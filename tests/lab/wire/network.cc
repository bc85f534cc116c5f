#include "tests/lab/wire/network.h"

#include "tests/lab/text/node.h"
#include "tests/lab/wire/rdma_peer.h"
#include "tests/lab/wire/tcp_peer.h"

namespace nfsrdma::lab {

Network::Network(FabricMaker verbs)
    : reactor_(make_epoll_reactor()), make_verbs_(std::move(verbs)) {
  iwarp_.fabric = make_provider(*reactor_, Carrier::iwarp, {}, nullptr);
}

Result<void> Network::capture_to(const std::string& path) {
  auto sink = capture::Sink::create(path);
  if (!sink) return fail_from(sink);
  capture_ = std::move(*sink);
  capture_->flush_after_turns(*reactor_);
  return {};
}

Result<std::unique_ptr<Peer>> Network::connect(const PeerOptions& options) {
  if (has_rdma(options.carrier)) return RdmaPeer::connect(*this, options);
  return TcpPeer::connect(*this, options);
}

Network::Provider& Network::provider(Carrier carrier) {
  if (carrier != Carrier::verbs) return iwarp_;
  if (!verbs_.fabric) {
    verbs_.fabric = make_provider(*reactor_, carrier, make_verbs_, capture_.get());
    verbs_.memory.register_with(*verbs_.fabric);
  }
  return verbs_;
}

bool Network::until(Duration patience, const std::function<bool()>& condition) {
  const TimePoint end = reactor_->now() + patience;
  for (;;) {
    if (condition()) return true;
    const TimePoint now = reactor_->now();
    if (now >= end) return false;
    reactor_->run_once(end - now);
  }
}

Result<fabric::Address> find_server(const std::string& text, std::uint16_t default_port) {
  std::string host = text;
  std::uint64_t port = default_port;
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string::npos &&
                        (text.find(':') == colon || (colon > 0 && text[colon - 1] == ']'));
  if (has_port) {
    const auto number = to_number(text.substr(colon + 1));
    if (!number || *number == 0 || *number > UINT16_MAX) {
      return fail(Error::local(EINVAL, "server", text + " has no port between 1 and 65535"));
    }
    port = *number;
    host = text.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  auto found = net::resolve(host, static_cast<std::uint16_t>(port), AF_UNSPEC);
  if (!found) return fail_from(found);
  if (found->empty()) return fail(Error::local(ENOENT, "server", text + " has no address"));
  return found->front();
}

}  // namespace nfsrdma::lab
