// Commands at run time, for tests: one line each over a Unix-domain stream socket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

/// Carries out one command line and returns the answer without a line end at its end.
using CommandRunner = std::function<std::string(const std::string& line)>;

/// Listens on a path; a stale socket there is replaced. Removes it when destroyed. The
/// reactor must outlive it.
class ControlSocket {
 public:
  static Result<std::unique_ptr<ControlSocket>> create(Reactor& reactor, const std::string& path,
                                                       CommandRunner run);
  ~ControlSocket();

 private:
  class Peer;
  class Acceptor;
  ControlSocket(Reactor& reactor, std::string path, CommandRunner run, UniqueFd listener);

  void accept_one();
  void remove(Peer& peer);

  Reactor& reactor_;
  std::string path_;
  CommandRunner run_;
  UniqueFd listener_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace nfsrdma::responder
