// Commands at run time, for tests: one line each over a Unix-domain stream socket.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/responder/transport/responder.h"
#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

/// Carries out one command line and returns the answer, without a line end at its end: "ok",
/// "ok ID", "error: REASON", or for `stats` a line "NAME VALUE" a counter and then "ok".
///
///   fault SPEC    adds a rule (see fault_script.h), answers its id
///   remove ID     takes a rule away
///   clear         takes all rules away
///   stop          calls that arrive wait from now on
///   continue      they are answered again
///   disconnect    breaks all connections
///   stats         all counters
std::string run_command(Responder& responder, const std::string& line);

/// Listens on a path; a stale socket there is replaced. Removes it when destroyed. The responder
/// and the reactor must outlive it.
class ControlSocket {
 public:
  static Result<std::unique_ptr<ControlSocket>> create(Reactor& reactor, Responder& responder,
                                                       const std::string& path);
  ~ControlSocket();

 private:
  class Peer;
  class Acceptor;
  ControlSocket(Reactor& reactor, Responder& responder, std::string path, UniqueFd listener);

  void accept_one();
  void remove(Peer& peer);

  Reactor& reactor_;
  Responder& responder_;
  std::string path_;
  UniqueFd listener_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace nfsrdma::responder
