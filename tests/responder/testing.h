// A whole responder in the test's own process, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tests/responder/server.h"

namespace nfsrdma::responder {

/// Serves a directory on 127.0.0.1 and a port the system chooses, from construction to destruction.
/// All methods may be called from the test's thread; they wait for the responder's.
class TestResponder {
 public:
  /// Serves options.service.directory, or a new temporary directory (removed at the end) when that
  /// is empty. options.port and addresses are set by this function when they have their defaults.
  /// Aborts the test program with a message when the responder cannot start.
  explicit TestResponder(ServerOptions options = {});
  TestResponder(const TestResponder&) = delete;
  TestResponder& operator=(const TestResponder&) = delete;
  ~TestResponder();

  const fabric::Address& address() const { return address_; }
  std::uint16_t port() const { return port_; }
  /// Where it serves TCP; options.tcp_port must be set.
  const fabric::Address& tcp_address() const { return tcp_address_; }
  const std::string& directory() const { return directory_; }

  /// A line of the control socket (see Server::run_command): "fault drop-reply:times=1",
  /// "disconnect", "stop", "continue", "clear", "restart". Returns its answer.
  std::string command(const std::string& line);
  /// A counter by its name; 0 when there is none of that name.
  std::uint64_t counter(const std::string& name);
  /// Runs work on the responder's thread and waits for it.
  void on_its_thread(const std::function<void(Server&)>& work);

 private:
  void run(const ServerOptions& options, const std::function<void()>& started);

  std::string directory_;
  bool owns_directory_ = false;
  fabric::Address address_;
  fabric::Address tcp_address_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<Server> server_;  // touched on thread_ only
  std::thread thread_;
};

}  // namespace nfsrdma::responder
