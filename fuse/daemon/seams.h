// Where a backend touches what lies outside of it, so that a run can be recorded and rerun.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <string_view>

#include "client/names/name_service.h"
#include "transport/base/reactor.h"
#include "transport/journal/entry.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::fuse {

// Words of Kind::entered.
inline constexpr std::string_view kEnterStart = "start";
inline constexpr std::string_view kEnterStop = "stop";
inline constexpr std::string_view kEnterReconnect = "reconnect";
inline constexpr std::string_view kEnterReturn = "return delegations";
inline constexpr std::string_view kEnterDrop = "drop caches";

/// Of one mount; belongs to its shard.
class Seams {
 public:
  virtual ~Seams() = default;

  /// The loop of client, cache and file system.
  virtual Reactor& inside() = 0;
  /// No server is there: everything comes from a recording.
  virtual bool is_rerun() const = 0;
  /// Wraps the connections to the client's server. A rerun has none: `channels` is null.
  virtual std::unique_ptr<rpc::ChannelFactory> between(
      std::unique_ptr<rpc::ChannelFactory> channels) = 0;
  /// Wraps the name service that the client asks.
  virtual client::NameService& between(client::NameService& names) = 0;
  /// Runs `go` as work that comes from outside, later.
  virtual void enter(std::string_view word, journal::Body body, std::function<void()> go) = 0;
  /// The same at once, with `go` called before this returns.
  virtual void enter_now(std::string_view word, const std::function<void()>& go) = 0;
  /// The mount has ended in order.
  virtual void finished() = 0;
};

/// `co_await Enter(seams, word, body);` goes on as work that comes from outside; at once without
/// seams.
class Enter {
 public:
  Enter(Seams* seams, std::string_view word, journal::Body body = {})
      : seams_(seams), word_(word), body_(std::move(body)) {}
  bool await_ready() const noexcept { return !seams_; }
  void await_suspend(std::coroutine_handle<> waiter) {
    seams_->enter(word_, std::move(body_), [waiter] { waiter.resume(); });
  }
  void await_resume() const noexcept {}

 private:
  Seams* seams_;
  std::string_view word_;
  journal::Body body_;
};

}  // namespace nfsrdma::fuse
