#include "tests/support/listening_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "transport/net/tcp_stream.h"

namespace nfsrdma::net {

Result<UniqueFd> make_listening_socket(const Address& local) {
  constexpr int kBacklog = 128;
  constexpr int kYes = 1;
  auto fd = make_socket(local.storage.ss_family);
  if (!fd) return fd;
  // Should one of these fail, bind(2) says what is the matter.
  (void)::setsockopt(fd->get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes);
  if (local.storage.ss_family == AF_INET6) {
    (void)::setsockopt(fd->get(), IPPROTO_IPV6, IPV6_V6ONLY, &kYes, sizeof kYes);
  }
  if (::bind(fd->get(), local.get(), local.length) != 0) {
    return fail(Error::from_errno(errno, "bind", local.text()));
  }
  if (::listen(fd->get(), kBacklog) != 0) {
    return fail(Error::from_errno(errno, "listen", local.text()));
  }
  return fd;
}

}  // namespace nfsrdma::net
