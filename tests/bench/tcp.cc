// bench-tcp read|write BLOCK OPERATIONS: the ceiling of one TCP connection on loopback. A server
// process answers each small request with a block (read), or takes a block and answers with a small
// reply (write). Prints latencies and the rate (sample.h).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/bench/loopback.h"
#include "tests/bench/sample.h"

namespace {

// What a READ or WRITE call and reply cost on the wire beside their data, roughly.
constexpr std::size_t kMessage = 256;

bool receive_all(int fd, char* data, std::size_t length) {
  return ::recv(fd, data, length, MSG_WAITALL) == static_cast<ssize_t>(length);
}

void serve(int fd, std::size_t request, std::size_t answer) {
  std::vector<char> in(request), out(answer, 'n');
  while (receive_all(fd, in.data(), request) && nfsrdma::bench::send_all(fd, out.data(), answer)) {
  }
}

/// A connected pair over 127.0.0.1; [0] is the client's end.
bool connect_pair(int ends[2]) {
  sockaddr_in address = nfsrdma::bench::loopback(0);
  socklen_t length = sizeof address;
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  auto* where = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, where, length) != 0 || ::listen(listener, 1) != 0) return false;
  ::getsockname(listener, where, &length);
  ends[0] = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(ends[0], where, length) != 0) return false;
  ends[1] = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  for (int i = 0; i < 2; ++i) nfsrdma::bench::send_at_once(ends[i]);
  return ends[1] >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench-tcp read|write BLOCK OPERATIONS\n");
    return 1;
  }
  const bool writing = std::strcmp(argv[1], "write") == 0;
  const std::size_t block = std::strtoul(argv[2], nullptr, 10);
  const std::size_t operations = std::strtoul(argv[3], nullptr, 10);
  const std::size_t request = writing ? kMessage + block : kMessage;
  const std::size_t answer = writing ? kMessage : kMessage + block;

  int ends[2];
  if (!connect_pair(ends)) {
    std::fprintf(stderr, "bench-tcp: no loopback connection: %s\n", std::strerror(errno));
    return 1;
  }
  const pid_t server = ::fork();
  if (server == 0) {
    ::close(ends[0]);
    serve(ends[1], request, answer);
    ::_exit(0);
  }
  ::close(ends[1]);

  std::vector<char> out(request, 'n'), in(answer);
  nfsrdma::bench::Sample sample(operations);
  bool ok = true;
  for (std::size_t i = 0; ok && i < operations; ++i) {
    ok = sample.measure([&] {
      return nfsrdma::bench::send_all(ends[0], out.data(), request) &&
             receive_all(ends[0], in.data(), answer);
    });
  }
  ::close(ends[0]);
  ::waitpid(server, nullptr, 0);
  sample.print(block);
  return ok ? 0 : 1;
}
