// fuse-memory [--file NAME=BYTES]... [--discard-writes] [--io_uring] MOUNTPOINT: serves files from
// memory, in the foreground, until it is unmounted. What /dev/fuse itself costs, for benchmarks to
// compare with. Says "mounted" on standard output when the mount is live.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fuse/channel/kernel_session.h"
#include "fuse/channel/mount_point.h"
#include "tests/support/memory_fs.h"

namespace {

using namespace nfsrdma;

constexpr std::size_t kSlots = 64;

class UntilUnmounted final : public fuse::ReceiverObserver {
 public:
  explicit UntilUnmounted(Reactor& reactor) : reactor_(reactor) {}
  void on_initialised() override {
    std::puts("mounted");
    std::fflush(stdout);
  }
  void on_receive_ended(const Error&) override { reactor_.stop(); }

 private:
  Reactor& reactor_;
};

struct Arguments {
  const char* mount_point = nullptr;
  bool keep_writes = true;
  bool io_uring = false;
  std::vector<std::pair<std::string, std::size_t>> files;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--discard-writes") == 0) {
      arguments.keep_writes = false;
    } else if (std::strcmp(argv[i], "--io_uring") == 0) {
      arguments.io_uring = true;
    } else if (std::strcmp(argv[i], "--file") == 0 && i + 1 < argc) {
      const std::string_view file = argv[++i];
      const auto equals = file.find('=');
      if (equals == std::string_view::npos) return false;
      arguments.files.emplace_back(file.substr(0, equals),
                                   std::strtoull(file.data() + equals + 1, nullptr, 10));
    } else {
      arguments.mount_point = argv[i];
    }
  }
  return arguments.mount_point != nullptr;
}

Result<void> serve(const Arguments& arguments) {
  testing::MemoryFileSystem memory(arguments.keep_writes);
  for (const auto& [name, size] : arguments.files) memory.add(name, size);
  auto reactor = make_epoll_reactor();
  auto slots =
      BufferPool::create(fuse::kSlotSize, kSlots,
                         arguments.io_uring ? BufferPool::Mapping::many : BufferPool::Mapping::one);
  if (!slots) return fail_from(slots);
  auto mount_point = fuse::check_mount_point(arguments.mount_point);
  if (!mount_point) return fail_from(mount_point);
  fuse::KernelSessionConfig config;
  config.mount_point = *mount_point;
  config.io_uring = arguments.io_uring;
  config.mount_options = {"fsname=memory", "subtype=fuse-memory"};
  auto session = fuse::KernelSession::create(*reactor, **slots, std::move(config),
                                             testing::MemoryFileSystem::handlers(), &memory);
  if (!session) return fail_from(session);
  TRY((*session)->mount());
  UntilUnmounted observer(*reactor);
  TRY((*session)->start(observer));
  reactor->run();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fputs(
        "usage: fuse-memory [--file NAME=BYTES]... [--discard-writes] [--io_uring] MOUNTPOINT\n",
        stderr);
    return 1;
  }
  auto served = serve(arguments);
  if (served) return 0;
  std::fprintf(stderr, "fuse-memory: %s\n", served.error().message().c_str());
  return 1;
}
