// bench-relay serve [--segments] [--nfs] FOLDER | mount [--ring | --segments] [--nfs] [--look
// MICROSECONDS] [--keep MIB] PORT MOUNTPOINT: the least that a file system over a network does.
// `mount` takes requests from FUSE, asks a server at PORT of 127.0.0.1 (`serve`) for each, and
// gives its answers to FUSE. It has none of nfsrdma's code between them. Runs until it is
// unmounted.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fuse/channel/mount_point.h"
#include "tests/bench/loopback.h"
#include "tests/bench/relay/loops.h"
#include "tests/bench/relay/mount_point.h"
#include "tests/bench/relay/server.h"

namespace {

using namespace nfsrdma;
using namespace nfsrdma::bench;

constexpr std::size_t kMib = std::size_t{1} << 20;

int mount(unsigned long port, const char* path, bool ring, relay::Waiting waiting) {
  waiting.socket = connect_to(port);
  if (waiting.socket < 0) {
    std::fprintf(stderr, "bench-relay: connect: %s\n", std::strerror(errno));
    return 1;
  }
  const auto mounted = relay::MountPoint::mount(path, ring);
  if (!mounted) {
    std::fprintf(stderr, "bench-relay: %s\n", mounted.error().message().c_str());
    return 1;
  }
  waiting.device = mounted->device();
  return ring ? relay::run_by_ring(waiting) : relay::run_by_epoll(waiting);
}

}  // namespace

int main(int argc, char** argv) {
  bool ring = false;
  relay::Waiting waiting;
  const auto number = [](const char* text) { return std::strtol(text, nullptr, 10); };
  int at = 2;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string_view option = argv[at];
    if (option == "--ring") ring = true;
    if (option == "--segments") waiting.in_segments = true;
    if (option == "--nfs") waiting.as_nfs = true;
    if (option == "--look" && at + 1 < argc) waiting.looking_microseconds = number(argv[++at]);
    if (option == "--keep" && at + 1 < argc) waiting.kept_bytes = kMib * number(argv[++at]);
  }
  if (at + 1 == argc && std::strcmp(argv[1], "serve") == 0) {
    return relay::serve(argv[at], waiting.in_segments, waiting.as_nfs);
  }
  const bool by_epoll_only = waiting.in_segments || waiting.as_nfs;
  if (at + 2 == argc && !(ring && by_epoll_only) && std::strcmp(argv[1], "mount") == 0) {
    return mount(std::strtoul(argv[at], nullptr, 10), argv[at + 1], ring, waiting);
  }
  std::fputs(
      "usage: bench-relay serve [--segments] [--nfs] FOLDER | mount [--ring | --segments] [--nfs] "
      "[--look MICROSECONDS] [--keep MIB] PORT MOUNTPOINT\n",
      stderr);
  return 1;
}
