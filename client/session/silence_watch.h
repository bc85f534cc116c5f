// Tells the administrator of a server that does not answer, and when it does again.
#pragma once

#include <string>
#include <utility>

#include "client/session/session.h"
#include "transport/base/log.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// One line when an answer has not come for `time_out`, one when answers come again. Belongs to one
/// shard.
class SilenceWatch {
 public:
  SilenceWatch(Reactor& reactor, Session& session, std::string server, Duration time_out)
      : reactor_(reactor),
        session_(session),
        server_(std::move(server)),
        time_out_(time_out),
        timer_(reactor, [this] { look(); }) {}

  void start() { timer_.arm(time_out_); }
  void stop() { timer_.cancel(); }

 private:
  void look() {
    const bool before = silent_;
    silent_ = reactor_.now() - session_.waiting_since() >= time_out_;
    if (silent_ && !before) log::warning("server {} does not answer; requests wait", server_);
    if (before && !silent_) log::warning("server {} answers again", server_);
    timer_.arm(time_out_);
  }

  Reactor& reactor_;
  Session& session_;
  const std::string server_;
  const Duration time_out_;
  Timer timer_;
  bool silent_ = false;
};

}  // namespace nfsrdma::client
