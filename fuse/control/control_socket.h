// A socket on which programs ask a daemon what it does: one line of request, one answer, end.
//
// An answer begins with a line "ok" or "error: why"; what follows is the answer itself. All of it
// is made at once, and goes out as the reader takes it: a reader that is slow, or never reads,
// delays no other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// A file that an asker has sent (SCM_RIGHTS). It may lie on the daemon's own mount, which only the
/// calling thread serves: closing it would wait for that, so another thread does it.
class AskersFile {
 public:
  AskersFile() = default;
  explicit AskersFile(UniqueFd file) : file_(std::move(file)) {}
  AskersFile(AskersFile&&) = default;
  AskersFile& operator=(AskersFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~AskersFile();

  int get() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }
  /// Only for one that is known to lie on another file system.
  UniqueFd take() { return std::move(file_); }

 private:
  UniqueFd file_;
};

/// In the order in which they were sent; most often there are none.
using AskersFiles = std::vector<AskersFile>;

/// The text that answers a request, or an error whose message does.
using ControlHandler =
    std::function<Result<std::string>(std::string_view request, AskersFiles files)>;

/// Belongs to the reactor's thread. Only the daemon's own user and root are answered.
class ControlSocket final : private FdHandler {
 public:
  /// Others find the socket busy until one of these has ended.
  static constexpr std::size_t kMostConnections = 8;
  /// Bytes of a request; a longer one is refused.
  static constexpr std::size_t kLongestRequest = 256;
  /// Files that may come with one; the kernel closes what is above.
  static constexpr std::size_t kMostFiles = 64;
  /// An asker that has not taken its answer by then is disconnected.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  /// How long no connection is accepted after the process ran out of file descriptors.
  static constexpr Duration kPause = std::chrono::seconds(1);

  /// Makes the socket, mode 0600; one of the same name that a process that died has left behind is
  /// replaced, anything else (EEXIST, EADDRINUSE) is not. The reactor outlives it.
  static Result<std::unique_ptr<ControlSocket>> create(Reactor& reactor, const std::string& path,
                                                       ControlHandler handler);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  /// Removes the socket.
  ~ControlSocket() override;

  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  /// Open from before the mount: removing the socket must not lead into the own mount.
  struct Place {
    UniqueFd directory;
    std::string name;
  };

  ControlSocket(Reactor& reactor, Place place, ControlHandler handler, UniqueFd listener);
  void on_ready(std::uint32_t events) override;
  void pause();
  void resume();
  void end(const Connection& connection);

  Reactor& reactor_;
  const Place place_;
  const ControlHandler handler_;
  UniqueFd listener_;
  Timer pause_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace nfsrdma::fuse
