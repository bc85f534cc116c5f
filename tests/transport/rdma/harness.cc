#include "tests/transport/rdma/harness.h"

#include <gtest/gtest.h>

#include <cstring>

#include "transport/base/log.h"
#include "transport/rpc/message.h"

namespace nfsrdma::test {
namespace {

constexpr std::size_t kHeadSlot = 64 * 1024;
constexpr std::size_t kDataSlot = 64 * 1024;
constexpr std::size_t kReplySlot = 64 * 1024;
constexpr std::size_t kSlots = 256;
constexpr std::size_t kLargestMessage = 64 * 1024;

class FindCounter final : public CounterVisitor {
 public:
  explicit FindCounter(std::string_view wanted) : wanted_(wanted) {}
  void visit(std::string_view name, std::uint64_t value) override {
    if (name == wanted_) found = value;
  }
  std::optional<std::uint64_t> found;

 private:
  std::string_view wanted_;
};

Bytes take(xdr::Encoder& out) {
  EXPECT_TRUE(out.ok());
  return Bytes(out.encoded().begin(), out.encoded().end());
}

}  // namespace

std::unique_ptr<Seen> parse(const Bytes& message) {
  auto seen = std::make_unique<Seen>();
  xdr::Decoder in(message);
  seen->fault = rdma::decode_header(in, seen->header, {rdma::kVersionOne, rdma::kVersionTwo});
  seen->payload.assign(message.begin() + static_cast<std::ptrdiff_t>(in.offset()), message.end());
  return seen;
}

Bytes encode(const rdma::Header& header, std::span<const std::byte> payload) {
  Bytes memory(kLargestMessage);
  xdr::Encoder out(memory);
  rdma::encode_header(out, header);
  Bytes message = take(out);
  message.insert(message.end(), payload.begin(), payload.end());
  return message;
}

Bytes rpc_reply(std::uint32_t xid, std::span<const std::byte> results) {
  std::array<std::byte, rpc::kAcceptedReplyHeader> memory;
  xdr::Encoder out(memory);
  rpc::encode_accepted_reply(out, xid, rpc::AcceptStat::success);
  Bytes message = take(out);
  message.insert(message.end(), results.begin(), results.end());
  return message;
}

Bytes rpc_call(std::uint32_t xid, std::uint32_t rpc_version) {
  return words({xid, 0, rpc_version, 0x40000000, 1, 1, 0, 0, 0, 0});
}

Bytes pattern(std::size_t count, unsigned first) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}

Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes memory(values.size() * xdr::kUnit);
  xdr::Encoder out(memory);
  for (auto value : values) out.u32(value);
  return memory;
}

namespace {

template <class Counted>
std::uint64_t found_in(const Counted& counted, std::string_view name) {
  FindCounter find(name);
  counted.visit_counters(find);
  EXPECT_TRUE(find.found) << "no counter " << name;
  return find.found.value_or(0);
}

}  // namespace

std::uint64_t counter(const rpc::Channel& channel, std::string_view name) {
  return found_in(channel, name);
}
std::uint64_t counter(const rpc::ConnectionKeeper& keeper, std::string_view name) {
  return found_in(keeper, name);
}

Harness::Setup Harness::Setup::of_version(std::uint32_t version, Setup base) {
  if (version == rdma::kVersionTwo) {
    base.options.version = rdma::VersionChoice::two;
    base.options.property_operations.fill(false);
    base.base_version_two = true;
  }
  return base;
}

Harness::Harness(Setup setup) : fabric(reactor), base_version_two_(setup.base_version_two) {
  log::set_level(log::Level::off);
  heads = std::move(*BufferPool::create(kHeadSlot, kSlots));
  data = std::move(*BufferPool::create(kDataSlot, kSlots));
  replies = std::move(*BufferPool::create(kReplySlot, setup.reply_slots));
  if (setup.server) {
    const auto wire = rdma::encode_private_data(*setup.server);
    fabric.peer_private_data.assign(wire.begin(), wire.end());
  }
  factory = std::move(
      *rdma::ChannelFactory::create(reactor, fabric, fabric::Address{}, setup.options, *replies));
}

Harness::~Harness() { drop_channel(); }

void Harness::begin() {
  channel = std::move(*factory->connect(observer));
  settle();
}

void Harness::connect() {
  begin();
  if (!base_version_two_ || observer.downs > 0) return;
  agree_on_version_two(1);
  peer().forget_sent();
}

void Harness::agree_on_version_two(std::uint32_t credit) { answer(0, credit); }

void Harness::drop_channel() {
  if (!channel) return;
  if (observer.downs == 0) {
    peer().disconnects_when_asked = true;
    channel->close(Error::local(0, "end of test"));
    peer().lose(fabric::Fault::local_close);
    settle();
  }
  channel.reset();
}

void Harness::deliver(Bytes message, std::optional<std::uint32_t> invalidated) {
  peer().deliver(std::move(message), invalidated);
  settle();
}

rdma::Header& Harness::reply_header(std::size_t index, std::uint32_t credit) {
  const auto call = parse(peer().sent(index).bytes);
  scratch_ = call->header;
  scratch_.rdma_credit = credit;
  scratch_.proc = rdma::RDMA_MSG;
  scratch_.chunks.read_count = 0;
  for (std::uint32_t i = 0; i < scratch_.chunks.write_count; ++i) {
    for (auto& segment : scratch_.chunks.write_entries[i].segments()) segment.length = 0;
  }
  for (auto& segment : scratch_.chunks.rdma_reply.segments()) segment.length = 0;
  return scratch_;
}

void Harness::answer(std::size_t index, std::uint32_t credit) {
  const rdma::Header& header = reply_header(index, credit);
  deliver(encode(header, rpc_reply(header.rdma_xid)));
}

TestCall::TestCall(Harness& harness, std::uint32_t xid, std::size_t rpc_bytes)
    : call(harness.heads->acquire()), harness_(harness) {
  call.reset(xid);
  rpc::Credential nobody;
  nobody.flavor = rpc::AuthFlavor::none;
  rpc::encode_call_header(call.encoder, xid, kTestProgram, 4, 1, nobody, {});
  EXPECT_EQ(call.encoder.size(), kRpcCallHeader);
  while (call.encoder.size() < rpc_bytes) {
    call.encoder.u32(static_cast<std::uint32_t>(call.encoder.size()));
  }
  call.max_reply = rpc::kAcceptedReplyHeader;
}

TestCall::~TestCall() {
  if (open_) harness_.drop_channel();
}

void TestCall::submit_to(rpc::Channel& channel) {
  call.reply.reset();
  call.observer = this;
  open_ = true;
  channel.submit(call);
}

void TestCall::on_call_done(rpc::Call& ended) {
  EXPECT_EQ(&ended, &call);
  EXPECT_TRUE(call.reply.has_value());
  ++done_;
  open_ = false;
  if (on_done) on_done();
}

}  // namespace nfsrdma::test
