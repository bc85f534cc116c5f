// A client that asks for a delegation by itself, with a bare OPEN, and waits until the server
// recalls it: nfsrdma-recall-client HOST PORT EXPORT FILE
//
// Prints "delegated" when it holds the delegation, "recalled" when CB_RECALL has come over the RDMA
// connection, "closed" when the file is. Exit status 0: all of that, in order. The delegation, of
// which its mount does not know, that returns by itself.
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "client/mount.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/proto/ops_open.h"
#include "client/requests/lookup.h"
#include "client/requests/open.h"
#include "client/requests/steps.h"
#include "client/session/session.h"
#include "tests/client/run_task.h"
#include "tests/support/counter_of.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/channel_factory.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::size_t kMessages = 160;
constexpr std::size_t kReplyChunkBytes = 1 << 20;
constexpr std::size_t kReplyChunks = 4;
constexpr std::chrono::seconds kRecallWait{60};

[[noreturn]] void give_up(std::string_view what) {
  std::fprintf(stderr, "nfsrdma-recall-client: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

/// What OPEN gave.
struct Held {
  stateid4 open;
  FileHandle file;
};

Task<Result<Held>> open_with_delegation(Mount& mount, FileHandle dir, std::string name) {
  CompoundRef compound = co_await mount.session().compound(mount.config().caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  {
    const OpenOwner owner(getuid());
    OPEN4args args;
    args.share_access = OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WANT_READ_DELEG;
    args.share_deny = OPEN4_SHARE_DENY_NONE;
    args.owner.clientid = mount.clientid();
    args.owner.owner = owner.bytes();
    args.claim.claim = CLAIM_NULL;
    args.claim.file = name;
    compound->add(args);
  }
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  auto& results = compound->results();
  auto passed = steps::pass<PUTFH4res>(results);
  CO_TRY(passed);
  OPEN4res opened;
  auto read = results.read(opened);
  CO_TRY(read);
  const auto& ok = opened.resok4;
  if (ok.delegation.delegation_type != OPEN_DELEGATE_READ) give_up("no delegation was given");
  auto file = steps::read_handle(results);
  CO_TRY(file);
  co_return Held{ok.stateid, *file};
}

Task<Result<void>> close_file(Mount& mount, Held held) {
  CompoundRef compound = co_await mount.session().compound(mount.config().caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, held.file);
  CLOSE4args close;
  close.open_stateid = held.open;
  compound->add(close);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return steps::pass<PUTFH4res, CLOSE4res>(compound->results());
}

std::uint64_t callbacks(const Mount& mount) {
  return nfsrdma::testing::counter_of(mount, "callbacks");
}

/// Whatever else knfsd calls for, a recall raises the count of callbacks above `before`.
void await_recall(Reactor& reactor, const Mount& mount, std::uint64_t before) {
  const auto limit = std::chrono::steady_clock::now() + kRecallWait;
  while (callbacks(mount) == before) {
    reactor.run_once(std::chrono::milliseconds(100));
    if (std::chrono::steady_clock::now() > limit) give_up("no recall has come");
  }
}

void run(const std::string& host, std::uint16_t port, std::string path, std::string file) {
  const auto addresses = must(fabric::resolve(host, port, AF_UNSPEC));
  auto reactor = make_epoll_reactor();
  auto messages = must(BufferPool::create(Mount::kMessageSlotBytes, kMessages));
  auto reply_chunks = must(BufferPool::create(kReplyChunkBytes, kReplyChunks));
  auto fabric = fabric::make_iwarp_fabric(*reactor);
  auto channels =
      must(rdma::ChannelFactory::create(*reactor, *fabric, addresses.at(0), {}, *reply_chunks));
  MountConfig config;
  config.server = host;
  config.export_path = std::move(path);
  config.caller.uid = getuid();
  config.caller.gid = getgid();
  Mount mount(*reactor, *channels, config, *messages);

  must(run_task(*reactor, mount.start()));
  const Held held =
      must(run_task(*reactor, open_with_delegation(mount, mount.root(), std::move(file))));
  const std::uint64_t before = callbacks(mount);
  say("delegated");
  await_recall(*reactor, mount, before);
  say("recalled");
  must(run_task(*reactor, close_file(mount, held)));
  say("closed");
  must(run_task(*reactor, mount.stop()));
}

}  // namespace
}  // namespace nfsrdma::client::test

int main(int argc, char** argv) {
  constexpr int kArguments = 5;
  if (argc != kArguments) nfsrdma::client::test::give_up("usage: HOST PORT EXPORT FILE");
  std::uint16_t port = 0;
  const std::string_view number = argv[2];
  std::from_chars(number.data(), number.data() + number.size(), port);
  nfsrdma::client::test::run(argv[1], port, argv[3], argv[4]);
  return 0;
}
