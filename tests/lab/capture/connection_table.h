// The connections of a capture, found by their addresses.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "tests/lab/capture/roce_table.h"
#include "tests/lab/capture/tcp_connection.h"

namespace nfsrdma::lab {

class ConnectionTable {
 public:
  /// At a time: a capture of a scan of ports must not fill the memory.
  static constexpr std::size_t kMost = 4096;

  explicit ConnectionTable(WireObserverFactory& factory)
      : factory_(factory), roce_(factory, connections_) {}

  void add(const IpPacket& packet);
  void finish(Moment at);
  std::size_t connections() const { return connections_; }
  std::size_t dropped() const { return dropped_; }

 private:
  using Key = std::pair<Endpoint, Endpoint>;

  void add_tcp(const IpPacket& packet);
  TcpConnection& open(const Key& key, const IpPacket& packet);

  WireObserverFactory& factory_;
  std::size_t connections_ = 0;
  std::size_t dropped_ = 0;
  std::map<Key, std::unique_ptr<TcpConnection>> tcp_;
  std::deque<Key> age_;  // the oldest first
  RoceTable roce_;
};

}  // namespace nfsrdma::lab
