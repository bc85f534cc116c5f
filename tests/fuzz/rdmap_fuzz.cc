// A whole endpoint: the input is a row of segments, sent as FPDUs with the right CRC, between which
// the endpoint's owner does what an owner may. However it ends, on_disconnected comes once and
// everything is given back.
//
// A byte before each segment says what the owner does first, and how the FPDU is cut in two.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "tests/fuzz/ddp_fuzz_arena.h"
#include "transport/base/log.h"
#include "transport/fabric/iwarp/endpoint.h"

namespace nfsrdma::fuzz {
namespace {

using namespace fabric;
using namespace fabric::iwarp;

constexpr std::size_t kReceives = 4;
constexpr std::size_t kReceiveSize = 256;
constexpr int kMaxTurns = 1000;

enum class Action : std::uint8_t {
  nothing,
  send,
  write,
  read,
  invalidate_writable,
  invalidate_readable,
  stop_posting,
  disconnect,
  count
};

class Owner final : public EndpointHandler {
 public:
  Owner(Reactor& reactor, std::shared_ptr<StagTable> stags, UniqueFd socket)
      : endpoint_(reactor, std::move(stags), *this) {
    for (std::size_t i = 0; i < kReceives; ++i) {
      storage_[i].resize(kReceiveSize);
      buffers_[i].memory = storage_[i];
    }
    const Agreement agreement{kMpaRevision2, true, 4, 4};
    require(endpoint_.adopt(std::move(socket), nullptr, {}, agreement).has_value());
    for (auto& buffer : buffers_) require(endpoint_.post_receive(buffer).has_value());
    Lease* bound[] = {&arena.lease(LeaseKind::writable), &arena.lease(LeaseKind::readable),
                      &arena.lease(LeaseKind::invalidated)};
    prepare(LeaseKind::writable, Access::remote_write);
    prepare(LeaseKind::readable, Access::remote_read);
    prepare(LeaseKind::invalidated, Access::remote_write);
    prepare(LeaseKind::prepared, Access::remote_write);
    require(
        endpoint_.post_send({.pieces = pieces_, .leases = bound, .invalidate = {}}).has_value());
    require(endpoint_.invalidate(*bound[2]));
  }
  ~Owner() override {
    require(down);
    arena.require_untouched();
    for (auto& buffer : buffers_) require(!buffer.posted && !buffer.linked());
    for (std::uint32_t i = 0; i < Arena::kLeases; ++i) {
      require(arena.lease(static_cast<LeaseKind>(i)).state == LeaseState::free);
    }
  }

  void act(Action action);
  void disconnect() { endpoint_.disconnect(Error::local(ECANCELED, "fuzz")); }

  void on_established(const ConnectionInfo&) override { require(false); }
  void on_receive(ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t>) override {
    require(!down && !buffer.posted && length <= buffer.memory.size());
    if (posting_) (void)endpoint_.post_receive(buffer);
  }
  void on_send_done(void*) override { require(!down); }
  void on_invalidated(Lease& lease) override { require(!down && lease.state == LeaseState::free); }
  void on_read_done(void*) override { require(!down); }
  void on_disconnected(const Error& reason) override {
    require(!down && !reason.message().empty());
    down = true;
  }

  Arena arena;
  bool down = false;

 private:
  void prepare(LeaseKind kind, Access access) {
    require(endpoint_.prepare(arena.lease(kind), arena.memory(kind), access).has_value());
  }
  void invalidate(LeaseKind kind) {
    if (arena.lease(kind).state == LeaseState::bound) (void)endpoint_.invalidate(arena.lease(kind));
  }

  std::array<std::vector<std::byte>, kReceives> storage_;
  std::array<ReceiveBuffer, kReceives> buffers_;
  std::vector<std::byte> payload_ = std::vector<std::byte>(1000);
  std::vector<std::byte> sink_ = std::vector<std::byte>(64);
  const std::array<std::span<const std::byte>, 1> pieces_ = {payload_};
  bool posting_ = true;
  IwarpEndpoint endpoint_;
};

void Owner::act(Action action) {
  if (down) return;
  const Segment remote{0x100, static_cast<std::uint32_t>(sink_.size()), 0x1000};
  // A closing connection refuses; that is an answer, too.
  switch (action) {
    case Action::send:
      (void)endpoint_.post_send(
          {.pieces = pieces_, .leases = {}, .invalidate = 0x200u, .context = this});
      break;
    case Action::write: (void)endpoint_.post_write(pieces_, remote); break;
    case Action::read: (void)endpoint_.post_read(sink_, remote, this); break;
    case Action::invalidate_writable: invalidate(LeaseKind::writable); break;
    case Action::invalidate_readable: invalidate(LeaseKind::readable); break;
    case Action::stop_posting: posting_ = false; break;
    case Action::disconnect: disconnect(); break;
    default: break;
  }
}

/// The socket on the peer's side: sends FPDUs, throws away what comes.
class Peer {
 public:
  explicit Peer(UniqueFd socket) : socket_(std::move(socket)) {}
  void send(std::span<const std::byte> bytes) {
    // A peer that was hung up on is not told; nothing is checked here.
    (void)!::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::array<std::byte, 65536> scratch;
    while (::recv(socket_.get(), scratch.data(), scratch.size(), 0) > 0) {
    }
  }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

void run(std::span<const std::byte> input) {
  static const auto reactor = make_epoll_reactor();
  static const auto stags = std::make_shared<StagTable>();
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  Owner owner(*reactor, stags, UniqueFd(ends[0]));
  Peer peer{UniqueFd(ends[1])};

  std::vector<std::byte> ulpdu;
  while (!input.empty() && !owner.down) {
    const auto choice = std::to_integer<std::uint8_t>(input.front());
    owner.act(static_cast<Action>(choice % static_cast<std::uint8_t>(Action::count)));
    input = take_ulpdu(input.subspan(1), ulpdu);
    owner.arena.name_leases(ulpdu);
    const std::vector<std::byte> frame = make_fpdu(ulpdu);
    const std::size_t cut = choice % frame.size();
    peer.send(std::span(frame).first(cut));
    reactor->run_once(Duration::zero());
    peer.send(std::span(frame).subspan(cut));
    reactor->run_once(Duration::zero());
  }
  peer.close();
  for (int turn = 0; turn < kMaxTurns && !owner.down; ++turn) reactor->run_once(Duration::zero());
  require(owner.down);
  require(stags->in_use() == 0);
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Every refusal is logged at a level that would drown the fuzzer's own output.
  static const bool quiet = [] {
    nfsrdma::log::set_level(nfsrdma::log::Level::off);
    return true;
  }();
  (void)quiet;
  nfsrdma::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}
