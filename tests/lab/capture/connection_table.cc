#include "tests/lab/capture/connection_table.h"

#include <algorithm>

#include "tests/lab/capture/reader.h"

namespace nfsrdma::lab {
namespace {

constexpr std::uint16_t kServerPorts[] = {20049, 2049};

bool is_server_port(std::uint16_t port) {
  return std::find(std::begin(kServerPorts), std::end(kServerPorts), port) !=
         std::end(kServerPorts);
}

/// Whether the sender is the client: the SYN tells, or the ports, or servers have the lower one.
bool is_from_client(const IpPacket& packet) {
  if (packet.tcp->syn) return !packet.tcp->ack;
  if (is_server_port(packet.to.port)) return true;
  if (is_server_port(packet.from.port)) return false;
  return packet.from.port > packet.to.port;
}

}  // namespace

void ConnectionTable::add(const IpPacket& packet) {
  if (packet.tcp) return add_tcp(packet);
  if (packet.to.port == RoceTable::kPort) roce_.add(packet);
}

void ConnectionTable::add_tcp(const IpPacket& packet) {
  const Key key = std::minmax(packet.from, packet.to);
  const auto found = tcp_.find(key);
  const bool opens = packet.tcp->syn && !packet.tcp->ack;
  if (found == tcp_.end()) return open(key, packet).add(packet);
  // The same ports again: a client that uses one port reconnects like this.
  if (opens && found->second->is_over(*packet.tcp)) {
    found->second->finish(packet.at);
    return open(key, packet).add(packet);
  }
  found->second->add(packet);
}

TcpConnection& ConnectionTable::open(const Key& key, const IpPacket& packet) {
  ConnectionInfo info;
  const bool from_client = is_from_client(packet);
  info.client = from_client ? packet.from : packet.to;
  info.server = from_client ? packet.to : packet.from;
  info.since = packet.at;
  auto& place = tcp_[key];
  if (!place) age_.push_back(key);
  place = std::make_unique<TcpConnection>(factory_, connections_, info);
  if (age_.size() > kMost) {
    const auto oldest = tcp_.find(age_.front());
    age_.pop_front();
    dropped_ += oldest->second->finished() ? 0 : 1;
    oldest->second->finish(packet.at);
    tcp_.erase(oldest);
  }
  return *tcp_.at(key);
}

void ConnectionTable::finish(Moment at) {
  for (const Key& key : age_) tcp_.at(key)->finish(at);
  roce_.finish(at);
}

CaptureSummary read_capture(PacketFile& file, WireObserverFactory& factory) {
  CaptureSummary summary;
  ConnectionTable table(factory);
  Moment last;
  for (;;) {
    auto packet = file.next();
    if (!packet) summary.damaged = packet.error().message();
    if (!packet || !*packet) break;
    last = (*packet)->at;
    ++summary.frames;
    summary.cut += (*packet)->cut ? 1 : 0;
    if (const auto parsed = parse_ip(file.link_type(), **packet)) table.add(*parsed);
  }
  table.finish(last);
  summary.connections = table.connections();
  summary.dropped = table.dropped();
  return summary;
}

}  // namespace nfsrdma::lab
