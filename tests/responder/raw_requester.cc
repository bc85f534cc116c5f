#include "tests/responder/raw_requester.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kReceiveSize = 64 * 1024;

}  // namespace

RawRequester::RawRequester(fabric::Fabric& fabric, const fabric::Address& server,
                           const std::optional<rdma::PrivateData>& private_data,
                           std::size_t receives) {
  fabric::EndpointOptions options;
  std::array<std::byte, rdma::kPrivateDataSize> encoded;
  if (private_data) {
    encoded = rdma::encode_private_data(*private_data);
    options.private_data = encoded;
  }
  auto endpoint = fabric.connect(server, *this, options);
  if (!endpoint) {
    ADD_FAILURE() << endpoint.error().message();
    return;
  }
  endpoint_ = std::move(*endpoint);
  for (std::size_t i = 0; i < receives; ++i) {
    auto& receive = receives_.emplace_back(std::make_unique<Receive>());
    receive->bytes.resize(private_data ? private_data->receive_size : kReceiveSize);
    receive->memory = receive->bytes;
    EXPECT_TRUE(endpoint_->post_receive(*receive));
  }
}

RawRequester::~RawRequester() {
  endpoint_.reset();
  // The provider is gone without a word; nothing is exposed any more.
  for (auto& exposed : exposed_) exposed->lease_.state = fabric::LeaseState::free;
}

Exposed& RawRequester::expose(std::size_t size, fabric::Access access, std::byte fill) {
  auto& exposed = *exposed_.emplace_back(std::make_unique<Exposed>());
  exposed.buffer_.assign(size, fill);
  auto prepared = endpoint_->prepare(exposed.lease_, exposed.buffer_, access);
  EXPECT_TRUE(prepared) << prepared.error().message();
  return exposed;
}

void RawRequester::send(std::span<const std::byte> bytes) {
  auto& send = *sends_.emplace_back(std::make_unique<Send>());
  send.bytes.assign(bytes.begin(), bytes.end());
  std::vector<fabric::Lease*> leases;
  for (auto& exposed : exposed_) {
    if (exposed->lease_.state == fabric::LeaseState::prepared) leases.push_back(&exposed->lease_);
  }
  const std::span<const std::byte> pieces[] = {send.bytes};
  fabric::SendWork work;
  work.pieces = pieces;
  work.leases = leases;
  work.context = &send;
  EXPECT_TRUE(endpoint_->post_send(work));
}

Arrived RawRequester::take() {
  if (arrived_.empty()) {
    ADD_FAILURE() << "nothing has arrived";
    return {};
  }
  Arrived first = std::move(arrived_.front());
  arrived_.pop_front();
  return first;
}

void RawRequester::on_established(const fabric::ConnectionInfo& info) {
  established_ = true;
  server_data_ = rdma::decode_private_data(info.peer_private_data);
}

void RawRequester::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                              std::optional<std::uint32_t> invalidated) {
  const auto bytes = buffer.memory.first(length);
  arrived_.push_back({Bytes(bytes.begin(), bytes.end()), invalidated});
  EXPECT_TRUE(endpoint_->post_receive(buffer));
}

void RawRequester::on_send_done(void* context) {
  std::erase_if(sends_, [context](const auto& send) { return send.get() == context; });
}

void RawRequester::on_disconnected(const Error& reason) { down_ = reason; }

}  // namespace nfsrdma::responder
