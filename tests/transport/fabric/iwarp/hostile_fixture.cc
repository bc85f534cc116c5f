#include "tests/transport/fabric/iwarp/hostile_fixture.h"

#include <algorithm>

namespace nfsrdma::fabric::testing {

Guarded::Guarded(std::size_t size, unsigned seed)
    : size_(size), storage_(pattern(size + 2 * kCanary, seed)), original_(storage_) {}

bool Guarded::canaries_intact() const {
  const auto same = [&](std::size_t from, std::size_t count) {
    return std::equal(storage_.begin() + from, storage_.begin() + from + count,
                      original_.begin() + from);
  };
  return same(0, kCanary) && same(kCanary + size_, kCanary);
}

HostileTest::HostileTest() : fabric(make_listening_iwarp_fabric(loop.reactor())), peer(loop) {
  acceptor.receives = 4;
  acceptor.receive_size = kReceive;
  auto made = fabric->listen(address_of("127.0.0.1"), acceptor);
  EXPECT_TRUE(made);
  listener = std::move(*made);
}

void HostileTest::open() {
  peer.connect(listener->address());
  peer.send(wire::startup({}));
  peer.receive_startup();
  peer.send(wire::send(next_msn++, bytes_of("hello")));
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
}

void HostileTest::open_with_leases() {
  open();
  ASSERT_TRUE(server().endpoint->prepare(write_lease, writable.memory(), Access::remote_write));
  ASSERT_TRUE(server().endpoint->prepare(read_lease, readable.memory(), Access::remote_read));
  Lease* const leases[] = {&write_lease, &read_lease};
  static const Bytes call = bytes_of("use these");
  ASSERT_TRUE(server().send(call, leases));
  peer.receive_fpdus(1);
}

void HostileTest::start_over() {
  acceptor.ends.clear();
  peer = RawPeer(loop);
  next_msn = 1;
}

void HostileTest::expect_everything_returned() {
  EXPECT_EQ(server().disconnects, 1);
  EXPECT_EQ(server().events.back(), "disconnected");
  EXPECT_TRUE(server().all_receives_returned());
  EXPECT_EQ(write_lease.state, LeaseState::free);
  EXPECT_EQ(read_lease.state, LeaseState::free);
  EXPECT_TRUE(writable.canaries_intact());
  EXPECT_TRUE(readable.untouched());
}

void HostileTest::expect_terminated(unsigned code, Fault fault, const std::string& words) {
  peer.receive_end();
  ASSERT_TRUE(peer.terminate()) << "no Terminate came";
  EXPECT_EQ(*peer.terminate(), code) << std::hex << *peer.terminate();
  const wire::Parsed& message = peer.fpdus.back();
  EXPECT_EQ(message.qn, 2u);
  EXPECT_EQ(message.msn, 1u);
  EXPECT_EQ(message.mo, 0u);
  EXPECT_TRUE(message.last);
  EXPECT_TRUE(message.crc_right);
  peer.close();
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_TRUE(server().down->is(Layer::fabric, static_cast<int>(fault)))
      << server().down->message();
  EXPECT_NE(server().down->detail.find(words), std::string::npos) << server().down->message();
  EXPECT_EQ(server().counter("terminates_sent"), 1u);
  expect_everything_returned();
}

}  // namespace nfsrdma::fabric::testing
