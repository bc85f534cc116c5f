#include "transport/rdma/private_data.h"

#include <algorithm>

namespace nfsrdma::rdma {
namespace {

constexpr std::array<std::byte, 4> kIdentifier = {std::byte{0xf6}, std::byte{0xab}, std::byte{0x0e},
                                                  std::byte{0x18}};
constexpr std::byte kVersion{1};
constexpr std::byte kRemoteInvalidationBit{1};

// Places within the message.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kFlagsAt = 5;
constexpr std::size_t kSendSizeAt = 6;
constexpr std::size_t kReceiveSizeAt = 7;

std::byte size_to_wire(std::size_t size) {
  return static_cast<std::byte>(std::clamp(size, kSizeUnit, kMaxThreshold) / kSizeUnit - 1);
}

std::size_t size_from_wire(std::byte value) {
  return (std::to_integer<std::size_t>(value) + 1) * kSizeUnit;
}

}  // namespace

std::array<std::byte, kPrivateDataSize> encode_private_data(const PrivateData& data) {
  std::array<std::byte, kPrivateDataSize> wire{};
  std::copy(kIdentifier.begin(), kIdentifier.end(), wire.begin());
  wire[kVersionAt] = kVersion;
  wire[kFlagsAt] = data.remote_invalidation ? kRemoteInvalidationBit : std::byte{0};
  wire[kSendSizeAt] = size_to_wire(data.send_size);
  wire[kReceiveSizeAt] = size_to_wire(data.receive_size);
  return wire;
}

PrivateData decode_private_data(std::span<const std::byte> buffer) {
  const auto found =
      std::search(buffer.begin(), buffer.end(), kIdentifier.begin(), kIdentifier.end());
  const auto rest = buffer.subspan(static_cast<std::size_t>(found - buffer.begin()));
  if (rest.size() < kPrivateDataSize || rest[kVersionAt] != kVersion) return {};
  return {.remote_invalidation = (rest[kFlagsAt] & kRemoteInvalidationBit) != std::byte{0},
          .send_size = size_from_wire(rest[kSendSizeAt]),
          .receive_size = size_from_wire(rest[kReceiveSizeAt])};
}

Thresholds agree(const PrivateData& client, const PrivateData& server) {
  return {.call = std::min(client.send_size, server.receive_size),
          .reply = std::min(server.send_size, client.receive_size),
          .remote_invalidation = client.remote_invalidation && server.remote_invalidation};
}

}  // namespace nfsrdma::rdma
