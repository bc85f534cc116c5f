// Who this mount is to the server, kept over a kill of this program.
#pragma once

#include <memory>
#include <string>

#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// Holds a file that has the client owner (client_owner4) of a mount. A program that was killed
/// leaves its state at the server: locks and opens, for two leases. The next one of the same user
/// for the same export comes with the same owner and another verifier, and the server drops that
/// state at once (RFC 8881 section 18.35.4).
///
/// Two clients with one owner would drop each other's state again and again. So the file is locked
/// (flock(2)) as long as its program lives, and is of use only where it was made: in this boot of
/// this machine, by this host name, as this very file (a clone of a container has copies).
class ClientOwner {
 public:
  /// For a mount that `key` describes: server, export, and by whom; one line. The file lies in
  /// `directory`, which only this user may write to. Null: another mount that lives has it, or it
  /// cannot be made. The owner is `fresh` if none was left there, and is kept from now on.
  static std::unique_ptr<ClientOwner> take(const std::string& directory, const std::string& key,
                                           const std::string& fresh);
  ClientOwner(const ClientOwner&) = delete;
  ClientOwner& operator=(const ClientOwner&) = delete;

  const std::string& text() const { return text_; }
  /// The server has no state of this owner any more: removes the file.
  void remove();

 private:
  ClientOwner(UniqueFd file, std::string path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}

  UniqueFd file_;  ///< locked
  std::string path_;
  std::string text_;
};

}  // namespace nfsrdma::fuse
