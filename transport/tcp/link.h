// What the parts of one connection share: its socket, what waits to be sent, and how it is ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/net/fault.h"
#include "transport/net/pace.h"
#include "transport/net/tcp_stream.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/options.h"
#include "transport/tcp/record_writer.h"

namespace nfsrdma::tcp {

using net::protocol_error;

/// Told by the link that the connection is to end.
class LinkObserver {
 public:
  /// Comes once, on the reactor's thread, never from within Link::post.
  virtual void on_link_ending(const Error& reason) = 0;

 protected:
  ~LinkObserver() = default;
};

class Link {
 public:
  Link(Reactor& reactor, const Options& options, Counters& counters, LinkObserver& observer);
  ~Link() { close(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Reactor& reactor() { return reactor_; }
  const Options& options() const { return options_; }
  Counters& counters() { return counters_; }
  net::ByteStream& stream() { return *stream_; }

  /// From now on `handler` hears when the socket is readable or, while something waits, writable.
  Result<void> attach(std::unique_ptr<net::TcpStream> stream, FdHandler& handler);
  /// Sends a message together with others of the same turn of the reactor, or at once when those
  /// are many bytes. An error ends the connection soon.
  void post(Outgoing& message, net::Pace pace = net::Pace::prompt);
  /// Sends a message soon, before those that wait: a slow line may need a minute for their data,
  /// and a server waits for the answer to a callback for seconds only.
  void post_urgent(Outgoing& message);
  /// An unhurried message that is kept goes at the end of this turn.
  void hurry();
  /// For a capture, of what is sent next.
  void comment(std::string_view text) { stream_->comment(text); }
  /// The socket is writable.
  void flush();
  /// Whether to hear that the socket is readable.
  void listen(bool wanted);
  bool listening() const { return reading_; }

  bool ending() const { return reason_.has_value(); }
  /// Why the connection ends. Only while ending.
  const Error& reason() const { return *reason_; }
  /// Ends the connection: nothing is read or sent from now on. Idempotent: the first reason stays.
  void end(Error reason);
  /// Closes the socket and drops what was not sent.
  void close();

 private:
  void send_soon(net::Pace pace);
  void send_gathered();
  void take(WriteStatus status);
  void watch(bool read, bool write);

  Reactor& reactor_;
  const Options& options_;
  Counters& counters_;
  LinkObserver& observer_;
  std::unique_ptr<net::TcpStream> stream_;
  FdHandler* handler_ = nullptr;
  RecordWriter writer_;
  bool reading_ = false;
  bool writing_ = false;
  std::optional<Error> reason_;
  std::optional<Error> broken_;  // found while posting, to be told soon
  Deferred end_soon_;
  Deferred turn_;
  Timer hold_timer_;  // of an unhurried message; runs on when that has gone, which is cheaper
};

}  // namespace nfsrdma::tcp
