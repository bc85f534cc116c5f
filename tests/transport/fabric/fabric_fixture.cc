#include "tests/transport/fabric/fabric_fixture.h"

#include <netinet/in.h>

namespace nfsrdma::fabric::testing {

Bytes pattern(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  std::uint32_t state = seed * 2654435761u + 1;
  for (auto& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

Bytes bytes_of(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(data, data + text.size());
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

::testing::AssertionResult Loop::until(const std::function<bool()>& condition) {
  // A bound against hanging, far above what any machine needs.
  constexpr Duration limit = std::chrono::seconds(20);
  // Not the reactor's clock, which a test may have stopped.
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return ::testing::AssertionFailure() << "it did not happen";
    // Short: a raw socket that the reactor does not watch may be what is waited for.
    reactor_->run_once(std::chrono::milliseconds(1));
  }
  return ::testing::AssertionSuccess();
}

void Loop::settle() {
  constexpr int idle_turns = 3;
  for (int idle = 0; idle < idle_turns;) {
    idle = reactor_->run_once(std::chrono::milliseconds(1)) ? 0 : idle + 1;
  }
}

End::End(std::size_t receives, std::size_t receive_size) {
  for (std::size_t i = 0; i < receives; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->storage.resize(receive_size);
    slot->memory = slot->storage;
    slots_.push_back(std::move(slot));
  }
}

End::~End() { endpoint.reset(); }

void End::post_all() {
  for (auto& slot : slots_) ASSERT_TRUE(endpoint->post_receive(*slot));
}

Result<void> End::send(std::span<const std::byte> data, std::span<Lease* const> leases,
                       std::optional<std::uint32_t> invalidate, void* context) {
  sent_.emplace_back(data.begin(), data.end());
  const std::span<const std::byte> pieces[] = {sent_.back()};
  return endpoint->post_send(SendWork{pieces, leases, invalidate, context});
}

std::uint64_t End::counter(std::string_view name) const {
  struct Finder final : CounterVisitor {
    void visit(std::string_view each, std::uint64_t value) override {
      if (each == wanted) found = value;
    }
    std::string_view wanted;
    std::optional<std::uint64_t> found;
  } finder;
  finder.wanted = name;
  endpoint->visit_counters(finder);
  EXPECT_TRUE(finder.found) << name;
  return finder.found.value_or(0);
}

void End::on_established(const ConnectionInfo& info) {
  established = true;
  ord = info.ord;
  ird = info.ird;
  description = info.description;
  peer_private_data.assign(info.peer_private_data.begin(), info.peer_private_data.end());
}

void End::on_receive(ReceiveBuffer& buffer, std::size_t length,
                     std::optional<std::uint32_t> invalidated_handle) {
  EXPECT_FALSE(buffer.posted);
  EXPECT_LE(length, buffer.memory.size());
  events.push_back("receive");
  messages.push_back(
      {Bytes(buffer.memory.begin(), buffer.memory.begin() + length), invalidated_handle});
  if (repost) {
    EXPECT_TRUE(endpoint->post_receive(buffer));
  }
  if (on_message) on_message(Message(messages.back()));
}

void End::on_disconnected(const Error& reason) {
  ++disconnects;
  events.push_back("disconnected");
  down = reason;
}

bool End::all_receives_returned() const {
  for (const auto& slot : slots_) {
    if (slot->posted || slot->linked()) return false;
  }
  return true;
}

void Acceptor::on_connect_request(std::unique_ptr<ConnectRequest> request) {
  const auto data = request->private_data();
  private_data.emplace_back(data.begin(), data.end());
  if (reject_with) return request->reject(*reject_with);
  auto end = std::make_unique<End>(receives, receive_size);
  auto accepted = request->accept(*end, options);
  ASSERT_TRUE(accepted) << accepted.error().message();
  end->endpoint = std::move(*accepted);
  end->post_all();
  ends.push_back(std::move(end));
  if (on_accept) on_accept(*ends.back());
}

std::string provider_name(const ::testing::TestParamInfo<Provider>& info) {
  return info.param.name;
}

Address address_of(const std::string& host, std::uint16_t port) {
  auto found = resolve(host, port, AF_UNSPEC);
  EXPECT_TRUE(found) << found.error().message();
  return found ? found->front() : Address{};
}

FabricTest::FabricTest(std::unique_ptr<Reactor> reactor)
    : loop(std::move(reactor)), fabric(GetParam().make(loop.reactor())) {
  if (BufferPool* memory = registered_memory()) {
    EXPECT_TRUE(fabric->register_pool(*memory));
  }
}

void FabricTest::listen() {
  auto made = fabric->listen(address_of(GetParam().host), acceptor);
  ASSERT_TRUE(made) << made.error().message();
  listener = std::move(*made);
}

void FabricTest::connect() {
  if (!listener) listen();
  connect(client);
}

void FabricTest::connect(End& end) {
  const std::size_t before = acceptor.ends.size();
  auto made = fabric->connect(listener->address(), end, options);
  ASSERT_TRUE(made) << made.error().message();
  end.endpoint = std::move(*made);
  end.post_all();
  ASSERT_TRUE(loop.until([&] { return end.established || end.down; }));
  ASSERT_TRUE(end.established) << end.down->message();
  ASSERT_EQ(acceptor.ends.size(), before + 1);
}

void FabricTest::expose(Lease& lease, std::span<std::byte> memory, Access access,
                        std::span<const std::byte> message) {
  ASSERT_TRUE(client.endpoint->prepare(lease, memory, access));
  Lease* const leases[] = {&lease};
  ASSERT_TRUE(client.send(message, leases));
}

void FabricTest::invalidate(Lease& lease) {
  if (client.endpoint->invalidate(lease)) return;
  ASSERT_TRUE(loop.until([&] { return lease.state == LeaseState::free; }));
  EXPECT_EQ(client.invalidated.back(), &lease);
}

std::optional<std::uint32_t> FabricTest::invalidatable(const Lease& lease) const {
  if (!keys_are_for_one_call()) return std::nullopt;
  return lease.segment.handle;
}

bool FabricTest::has_failed(const End& end, Fault fault) {
  if (!end.down) return false;
  return !GetParam().exact || end.down->is(Layer::fabric, static_cast<int>(fault));
}

}  // namespace nfsrdma::fabric::testing
