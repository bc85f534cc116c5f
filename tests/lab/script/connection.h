// A connection of a script, with what was sent on it and what has come.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/lab/wire/exchange.h"
#include "tests/lab/wire/network.h"

namespace nfsrdma::lab::script {

/// A reply that has come, and where it is in the capture (0: there is none).
struct Reply {
  std::uint32_t xid = 0;
  Node content;
  Bytes bytes;
  std::uint64_t frame = 0;
};

class Connection {
 public:
  Connection(Network& network, PeerOptions options)
      : network_(network), options_(std::move(options)) {}

  /// Connects, anew if it was connected before; up or down when it returns, or out of patience.
  Result<void> open(Duration patience);
  /// Sends, and keeps the call until its reply has come.
  Result<void> send(SentCall call);
  Result<void> send_raw(std::span<const std::byte> bytes) { return peer_->send(bytes); }

  /// Sorts what has arrived. Answers callbacks, unless told not to.
  void sort();
  /// Runs the reactor until `condition` holds; sorts in between.
  bool until(Duration patience, const std::function<bool()>& condition);

  Peer& peer() { return *peer_; }
  const PeerOptions& options() const { return options_; }
  bool up() const { return peer_ && peer_->up(); }
  /// The last reply of that XID, or null.
  const Reply* reply(std::uint32_t xid) const;
  void forget_replies(std::uint32_t xid) { replies_.erase(xid); }
  const std::vector<Node>& callbacks() const { return callbacks_; }
  /// What a socket has brought.
  const Bytes& stream() const { return stream_; }
  /// The packet of the capture with the last of it; 0: there is none.
  std::uint64_t stream_frame() const { return stream_frame_; }
  void answer_callbacks(bool answer) { answer_ = answer; }

  /// Called with each reply as it is found.
  std::function<void(const Reply&)> on_reply;

 private:
  /// Replies and callbacks that are kept: a server that sends without end shall not fill the
  /// memory.
  static constexpr std::size_t kMostKept = 65536;
  static constexpr std::size_t kMostStream = 16 * 1024 * 1024;

  Network& network_;
  PeerOptions options_;
  std::unique_ptr<Peer> peer_;
  std::map<std::uint32_t, SentCall> calls_;
  std::map<std::uint32_t, Reply> replies_;
  std::vector<Node> callbacks_;
  Bytes stream_;
  std::uint64_t stream_frame_ = 0;
  bool answer_ = true;
};

/// What the server said of itself while connecting, as a record: {present=1 version=1 R=1 send=4096
/// recv=4096 bytes=0x...}.
Node describe_private_data(std::span<const std::byte> data);

}  // namespace nfsrdma::lab::script
