#include "tests/responder/responder_rig.h"
#include "tests/support/rpc_message.h"

#include <sys/socket.h>

#include <chrono>

namespace nfsrdma::responder {
namespace {

/// Guards against a hang; no test depends on its length.
constexpr auto kGiveUp = std::chrono::seconds(20);
constexpr auto kStep = std::chrono::milliseconds(20);
constexpr std::size_t kReceives = 160;
constexpr std::size_t kMessageRoom = 64 * 1024;
constexpr std::uint32_t kSilenceXid = 0x51137ce0;

}  // namespace

Result<xdr::Decoder> ParsedReply::results(std::span<const std::byte> from) const {
  xdr::Decoder in(from);
  auto accepted = rpc::decode_reply_header(in, header.rdma_xid);
  if (!accepted) return fail_from(accepted);
  return in;
}

ResponderRig::ResponderRig()
    : reactor(make_epoll_reactor()), fabric(fabric::make_listening_iwarp_fabric(*reactor)) {}

void ResponderRig::TearDown() {
  requesters.clear();
  if (responder) responder->abort();
}

ResponderRig::~ResponderRig() {
  requesters.clear();
  responder.reset();
  while (reactor->run_once(Duration::zero())) {
  }
}

void ResponderRig::start(const ResponderConfig& config) {
  auto memory = ResponderPools::create(config);
  ASSERT_TRUE(memory) << memory.error().message();
  pools = std::move(*memory);
  auto created = Responder::create(*reactor, *fabric, service, config, pools);
  ASSERT_TRUE(created) << created.error().message();
  responder = std::move(*created);
  auto local = fabric::resolve("127.0.0.1", 0, AF_INET);
  ASSERT_TRUE(local);
  auto bound = responder->listen(local->front());
  ASSERT_TRUE(bound) << bound.error().message();
  address = *bound;
}

rdma::PrivateData ResponderRig::sizes(std::size_t send, std::size_t receive, bool invalidation) {
  rdma::PrivateData data;
  data.send_size = send;
  data.receive_size = receive;
  data.remote_invalidation = invalidation;
  return data;
}

RawRequester& ResponderRig::connect(std::optional<rdma::PrivateData> data) {
  if (!responder) start();
  requesters.push_back(std::make_unique<RawRequester>(*fabric, address, data, kReceives));
  RawRequester& requester = *requesters.back();
  run_until([&] { return requester.up() || requester.down(); });
  EXPECT_TRUE(requester.up());
  return requester;
}

void ResponderRig::run_until(const std::function<bool()>& condition) {
  const auto end = reactor->now() + kGiveUp;
  while (!condition() && reactor->now() < end) reactor->run_once(kStep);
  EXPECT_TRUE(condition()) << "gave up waiting";
}

void ResponderRig::expect_silence(RawRequester& requester) {
  const auto before = requester.arrived();
  const auto null_call = rpc_call(kSilenceXid, {}, 0);
  requester.send(assemble(message_header(kSilenceXid), null_call));
  run_until([&] { return requester.arrived() > before || requester.down(); });
  ASSERT_TRUE(requester.up());
  EXPECT_EQ(requester.arrived(), before + 1);
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kSilenceXid);
}

ParsedReply ResponderRig::exchange(RawRequester& requester, std::span<const std::byte> message) {
  requester.send(message);
  return next_reply(requester);
}

ParsedReply ResponderRig::next_reply(RawRequester& requester) {
  run_until([&] { return requester.arrived() > 0 || requester.down(); });
  ParsedReply reply;
  if (requester.arrived() == 0) {
    ADD_FAILURE() << "no reply: "
                  << (requester.down() ? requester.reason().message() : "connection is up");
    return reply;
  }
  Arrived arrived = requester.take();
  reply.bytes = std::move(arrived.bytes);
  reply.invalidated = arrived.invalidated;
  xdr::Decoder in(reply.bytes);
  reply.fault = rdma::decode_header(in, reply.header, {rdma::kVersionOne, rdma::kVersionTwo});
  reply.message = std::span(reply.bytes).subspan(in.offset());
  return reply;
}

void ResponderRig::expect_error(RawRequester& requester, std::span<const std::byte> message,
                                rdma::rpc_rdma_errcode code) {
  xdr::Decoder in(message);
  const auto xid = in.u32("xid");
  const auto reply = exchange(requester, message);
  EXPECT_EQ(reply.fault, rdma::HeaderFault::none);
  EXPECT_EQ(reply.header.rdma_xid, xid);
  EXPECT_EQ(reply.header.proc, rdma::RDMA_ERROR);
  EXPECT_EQ(reply.header.error.err, code);
  EXPECT_GE(reply.header.rdma_credit, 1U);
}

Bytes ResponderRig::rpc_call(std::uint32_t xid, std::span<const std::byte> arguments,
                             std::uint32_t procedure) {
  Bytes bytes(rpc::max_call_header() + arguments.size());
  xdr::Encoder out(bytes);
  rpc::encode_call_header(out, xid, rpc::kNfsProgram, rpc::kNfsVersion4, procedure,
                          rpc::Credential(), "tester");
  bytes.resize(out.size());
  bytes.insert(bytes.end(), arguments.begin(), arguments.end());
  return bytes;
}

rdma::Header ResponderRig::message_header(std::uint32_t xid, std::uint32_t credit) {
  rdma::Header header;
  header.rdma_xid = xid;
  header.rdma_credit = credit;
  return header;
}

Bytes ResponderRig::assemble(const rdma::Header& header, std::span<const std::byte> message) {
  Bytes bytes(kMessageRoom);
  xdr::Encoder out(bytes);
  rdma::encode_header(out, header);
  bytes.resize(out.size());
  bytes.insert(bytes.end(), message.begin(), message.end());
  return bytes;
}

Bytes ResponderRig::words(std::initializer_list<std::uint32_t> values) {
  Bytes bytes(values.size() * xdr::kUnit);
  xdr::Encoder out(bytes);
  for (const auto word : values) out.u32(word);
  return bytes;
}

Bytes ResponderRig::pattern(std::size_t size, unsigned seed) {
  constexpr unsigned kStride = 31;
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * kStride + seed);
  return bytes;
}

}  // namespace nfsrdma::responder
